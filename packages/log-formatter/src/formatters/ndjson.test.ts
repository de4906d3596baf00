import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyStep, headerOf, stepOf, wildStep } from "../record.test-support.ts";
import type { LogRecord } from "../record.ts";
import { ndjson } from "./ndjson.ts";

const textOf = (chunk: string | Uint8Array): string =>
  typeof chunk === "string" ? chunk : new TextDecoder("utf-8", { fatal: true }).decode(chunk);

test("a step is its own JSON, number for number", () => {
  const formatter = ndjson();
  fc.assert(
    fc.property(anyStep, (record) => {
      const line = textOf(formatter.step(record));
      expect(line.indexOf("\n")).toBe(line.length - 1);
      // JSON has no -0.
      expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(record)));
    }),
    { numRuns: 200 },
  );
});

test("any numbers at all give a line of JSON in which those that are not finite are null", () => {
  const formatter = ndjson();
  fc.assert(
    fc.property(wildStep, (record) => {
      const parsed = JSON.parse(textOf(formatter.step(record))) as typeof record;
      for (const [name, value] of Object.entries(record.metrics)) {
        expect(parsed.metrics[name]).toBe(value !== null && Number.isFinite(value) ? value + 0 : null);
      }
      expect(Object.keys(parsed.sections)).toEqual(Object.keys(record.sections));
    }),
    { numRuns: 200 },
  );
});

test("a line is written as documented", () => {
  const record = stepOf(12, {
    tags: ["warmup"],
    sections: { load: { ms: null, self_ms: null, n: 1, device_ms: 1.5, reason: "pending" } },
  });
  expect(textOf(ndjson().step(record))).toBe(
    '{"kind":"step","step":12,"attempt":1,"t_ms":530.2,"ms":48.1,"residual_ms":0.2,"ov_us":4.25,' +
      '"sections":{"load":{"ms":null,"self_ms":null,"n":1,"device_ms":1.5,"reason":"pending"}},' +
      '"lanes":{"drafter":{"busy_ms":45,"wait_ms":2.9,"overlap":null}},"verdict":{"cause":"drafter-bound","share":0.935,"confidence":0.9},' +
      '"metrics":{"tokens_per_s":1234.5,"loss":3.25,"accuracy":0.21},"gauges":{"queue_depth":2},"tags":["warmup"]}\n',
  );
});

test("records that are no steps are their JSON, with what JSON lacks in a form that it has", () => {
  const formatter = ndjson();
  const circular: { name: string; self?: unknown } = { name: "c" };
  circular.self = circular;
  const lines = [
    formatter.header!({
      ...headerOf([]),
      config: { big: 2n ** 70n, circular, nan: NaN, shared: [circular, circular] },
    }),
    formatter.event!({ kind: "event", step: 3, name: "odd\n", data: undefined }),
  ].map((chunk) => JSON.parse(textOf(chunk)) as LogRecord & { config: unknown });
  expect(lines[0]!.config).toEqual({
    big: String(2n ** 70n),
    circular: { name: "c", self: "[circular]" },
    nan: null,
    shared: [
      { name: "c", self: "[circular]" },
      { name: "c", self: "[circular]" },
    ],
  });
  expect(lines[1]).toEqual({ kind: "event", step: 3, name: "odd\n" });
});
