import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyStep, anyText, headerOf, stepOf, wildStep } from "../record.test-support.ts";
import type { HeaderRecord, LogRecord, StepRecord } from "../record.ts";
import { chrome } from "./chrome.ts";

interface TraceEvent {
  ph: string;
  pid: number;
  tid: number;
  name: string;
  ts?: number;
  dur?: number;
  args: Record<string, unknown>;
}

function text(chunk: string | Uint8Array): string {
  return typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
}

function trace(records: readonly LogRecord[]): TraceEvent[] {
  const formatter = chrome();
  const chunks = records.map((record) => {
    if (record.kind === "header") return text(formatter.header!(record));
    return text(record.kind === "event" ? formatter.event!(record) : formatter.step(record as StepRecord));
  });
  return JSON.parse([...chunks, text(formatter.close!())].join("")) as TraceEvent[];
}

const nested = headerOf([
  { name: "queue/wait", parent: null, lane: "drafter", role: "wait" },
  { name: "target/forward", parent: "queue/wait", lane: "target", role: null },
  { name: "drafter/backward", parent: null, lane: "drafter", role: null },
  { name: "clip", parent: "drafter/backward", lane: "drafter", role: null },
]);
const times = (ms: number, self: number): StepRecord["sections"][string] => ({ ms, self_ms: self, n: 1 });

test("a step as tracks: children inside their parents, sections of another lane on theirs", () => {
  const sections = {
    "queue/wait": times(10, 1),
    "target/forward": times(9, 9),
    "drafter/backward": times(30, 25),
    clip: times(5, 5),
  };
  const events = trace([nested, stepOf(1, { t_ms: 100, ms: 41, sections })]);
  expect(events.filter(({ ph }) => ph === "M").map(({ name, tid, args }) => [name, tid, args["name"]])).toEqual([
    ["process_name", 0, "a run rank 0 on a host"],
    ["thread_name", 0, "steps"],
    ["thread_name", 1, "drafter"],
    ["thread_name", 2, "target"],
    ["thread_name", 3, "other"],
  ]);
  // Microseconds.
  expect(events.filter(({ ph }) => ph === "X").map(({ name, tid, ts, dur }) => [name, tid, ts, dur])).toEqual([
    ["step", 0, 100_000, 41_000],
    ["queue/wait", 1, 100_000, 10_000],
    ["target/forward", 2, 100_000, 9000],
    ["drafter/backward", 1, 110_000, 30_000],
    ["clip", 1, 110_000, 5000],
  ]);
});

test("events carry in args what their length does not show", () => {
  const load = { ms: null, self_ms: null, n: 0, reason: "not reached" };
  const sections = {
    load,
    "drafter/backward": times(30, 25),
    clip: times(5, 5),
    overlapping: { ms: 2, self_ms: 1.5, n: 4, kernels: 7, reason: 'a "b"' },
  };
  const step = stepOf(3, { sections });
  const events = trace([nested, step, { kind: "event", step: 3, name: "slow", data: { spans: 2n } }]);
  const argsOf = (of: string): unknown => events.find(({ name }) => name === of)?.args;
  expect(argsOf("step")).toEqual({ ...step, sections: {} });
  expect(argsOf("drafter/backward")).toEqual({ n: 1, self_ms: 25 });
  expect(argsOf("clip")).toEqual({ n: 1 });
  expect(argsOf("overlapping")).toEqual({ ms: 2, self_ms: 1.5, n: 4, kernels: 7, reason: 'a "b"' });
  // What was not measured has no length to draw.
  expect(argsOf("load")).toBeUndefined();
  expect(events.at(-1)).toMatchObject({ ph: "i", name: "slow", args: { step: 3, data: { spans: "2" } } });
});

const anyHeader: fc.Arbitrary<HeaderRecord> = fc
  .array(
    fc.record({
      name: anyText,
      parent: fc.option(anyText),
      lane: fc.constantFrom("drafter", "target"),
      role: fc.constant(null),
    }),
    { maxLength: 8 },
  )
  .map((sections) => headerOf(sections));

/** Whether complete events of one track either nest or follow one another, as the format demands. */
function wellNested(events: readonly TraceEvent[]): boolean {
  const open: number[] = [];
  let last = 0;
  for (const { ts, dur } of events) {
    // In nanoseconds, where every time is whole.
    const [start, end] = [Math.round(ts! * 1000), Math.round(ts! * 1000) + Math.round(dur! * 1000)];
    while (open.length > 0 && open.at(-1)! <= start) open.pop();
    if (start < last || (open.length > 0 && end > open.at(-1)!)) return false;
    open.push(end);
    last = start;
  }
  return true;
}

test("whatever the header claims of parents and lanes, a track's events nest or follow", () => {
  fc.assert(
    fc.property(anyHeader, fc.array(anyStep, { maxLength: 3 }), (header, records) => {
      const steps = records.map((record, index) => ({
        ...record,
        t_ms: index * 1000 + (record.t_ms % 1000),
        sections: onlyShort(record.sections),
      }));
      const events = trace([header, ...steps]).filter(({ ph }) => ph === "X");
      for (const track of [1, 2, 3]) expect(wellNested(events.filter(({ tid }) => tid === track))).toBe(true);
    }),
    { numRuns: 300 },
  );
});

function short(ms: number | null): number | null {
  return ms === null ? null : Math.round((ms % 10_000) * 1e6) / 1e6;
}

/** Sections of seconds, as they are: with those of weeks the sums leave the exact numbers. */
function onlyShort(sections: StepRecord["sections"]): StepRecord["sections"] {
  return Object.fromEntries(
    Object.entries(sections).map(([name, section]) => [
      name,
      { ...section, ms: short(section.ms), self_ms: short(section.self_ms) },
    ]),
  );
}

test("any numbers at all give a trace in JSON, with or without a header", () => {
  fc.assert(
    fc.property(fc.array(wildStep, { minLength: 1, maxLength: 3 }), fc.boolean(), (records, withHeader) => {
      const events = trace([
        ...(withHeader ? [nested] : []),
        ...records,
        { kind: "event", step: 1, name: "end", data: null },
      ]);
      expect(events.filter(({ name, tid }) => name === "step" && tid === 0)).toHaveLength(records.length);
    }),
    { numRuns: 200 },
  );
  expect(chrome().close!()).toBe("");
});
