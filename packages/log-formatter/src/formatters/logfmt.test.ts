import * as fc from "fast-check";
import { parse } from "logfmt";
import { expect, test } from "vitest";
import { headerOf, stepOf, wildStep } from "../record.test-support.ts";
import { distinctStep, fromPaths, wellFormed } from "./paths.test-support.ts";
import { logfmt } from "./logfmt.ts";

const textOf = (chunk: string | Uint8Array): string =>
  typeof chunk === "string" ? chunk : new TextDecoder("utf-8", { fatal: true }).decode(chunk);

test("a line is written as documented", () => {
  expect(textOf(logfmt().step(stepOf(12, { tags: ["warm up"] })))).toBe(
    "kind=step step=12 attempt=1 t_ms=530.2 ms=48.1 residual_ms=0.2 ov_us=4.25 " +
      "load.ms=2.9 load.self_ms=2.9 load.n=1 drafter/backward.ms=45 drafter/backward.self_ms=45 drafter/backward.n=2 " +
      "lanes.drafter.busy_ms=45 lanes.drafter.wait_ms=2.9 lanes.drafter.overlap=null " +
      "verdict.cause=drafter-bound verdict.share=0.935 verdict.confidence=0.9 " +
      'metrics.tokens_per_s=1234.5 metrics.loss=3.25 metrics.accuracy=0.21 gauges.queue_depth=2 tags.0="warm up"\n',
  );
});

test("a step read by logfmt's parser is the step", () => {
  const formatter = logfmt();
  fc.assert(
    fc.property(distinctStep, (record) => {
      const line = textOf(formatter.step(record));
      expect(line.indexOf("\n")).toBe(line.length - 1);
      expect(fromPaths(parse(line))).toEqual(wellFormed(record));
    }),
    { numRuns: 200 },
  );
});

test("names keep every kind of white space", () => {
  const spaces = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter((text) =>
    /\s/.test(text),
  );
  const names = spaces.flatMap((space) => [space, `${space}a`, `a${space}b`, `b${space}`]);
  const sections = Object.fromEntries(names.map((name) => [name, { ms: 1, self_ms: 1, n: 1 }]));
  const metrics = Object.fromEntries(names.map((name) => [name, 2]));
  const record = stepOf(1, { sections, metrics, tags: spaces });
  expect(spaces).toHaveLength(25);
  expect(fromPaths(parse(textOf(logfmt().step(record))))).toEqual(record);
});

test("any numbers at all give a line that the parser reads", () => {
  const formatter = logfmt();
  fc.assert(
    fc.property(wildStep, (record) => {
      const parsed = parse(textOf(formatter.step(record)));
      expect(parsed["step"]).toBe(String(record.step));
      expect(parsed["ms"]).toBe(Number.isFinite(record.ms) ? parsed["ms"] : "null");
    }),
  );
});

test("other records are flattened to their leaves", () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const config = {
    adam: { betas: [0.9, 0.999] },
    nothing: {},
    none: [],
    big: 3n,
    text: 'a "b"\nc',
    run: () => 1,
    missing: undefined,
    nan: NaN,
    circular,
  };
  const formatter = logfmt();
  expect(
    parse(
      textOf(formatter.header!({ ...headerOf([{ name: "a b", parent: null, lane: "main", role: null }]), config })),
    ),
  ).toEqual({
    kind: "header",
    v: "1",
    run: "a run",
    attempt: "1",
    rank: "0",
    host: "a host",
    pid: "7",
    start: "2026-01-02T03:04:05.678Z",
    "sections.0.name": "a b",
    "sections.0.parent": "null",
    "sections.0.lane": "main",
    "sections.0.role": "null",
    "calibration.cost_ns": "60",
    "calibration.cost_cold_ns": "1500",
    "calibration.bias_ns": "30",
    "calibration.resolution_ns": "35",
    "config.adam.betas.0": "0.9",
    "config.adam.betas.1": "0.999",
    "config.nothing": "{}",
    "config.none": "[]",
    "config.big": "3",
    "config.text": "a %22b%22%0Ac",
    "config.nan": "null",
    "config.circular.self": "[circular]",
  });
  expect(textOf(formatter.event!({ kind: "event", step: 3, name: "slow", data: "why" }))).toBe(
    "kind=event step=3 name=slow data=why\n",
  );
});
