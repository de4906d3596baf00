import * as fc from "fast-check";
import type { HeaderRecord, SectionRecord, StepRecord } from "./record.ts";

/** Characters that some reader takes for its own, or for white space, and words that mean something to a format or to JavaScript. */
const awkward = [
  ...Array.from(" \t\n\r\v\f\u0000\u007f\u0085\u00a0\u1680\u180e\u2007\u200b\u2028\u2029\u202e\u3000\ufeff"),
  ...Array.from("\"'`\\%=.,:;#/[]{}()<>-+0"),
  ..."\ud83d\ude00 \ud800 \udc00 e\u0301 %41 %2E null NaN 1e3".split(" "),
  ..."kind step ms n reason lanes verdict tags more (step) __proto__ constructor".split(" "),
];

/** Any UTF-16, lone surrogates, controls and quotes included. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string(),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 }).map((units) => String.fromCharCode(...units)),
  fc.array(fc.constantFrom(...awkward), { minLength: 1, maxLength: 3 }).map((parts) => parts.join("")),
  fc.constantFrom(
    "drafter/backward",
    "__proto__",
    "metrics",
    "null",
    "a.b",
    "%",
    '"',
    "\ud800",
    "\n",
    "\t",
    "\u2028",
    "\u001b[31m",
  ),
);

/** Milliseconds as a timer gives them: whole nanoseconds. */
const nanoseconds: fc.Arbitrary<number> = fc.integer({ min: 0, max: 1e15 }).map((ns) => ns / 1e6);
const anyNumber = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 1e21));
const finite = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());

function named<T>(value: fc.Arbitrary<T>, name: fc.Arbitrary<string> = anyText): fc.Arbitrary<Record<string, T>> {
  return fc.array(fc.tuple(name, value), { maxLength: 6 }).map((entries) => Object.fromEntries(entries));
}

function stepRecord(time: fc.Arbitrary<number>, number: fc.Arbitrary<number>): fc.Arbitrary<StepRecord> {
  const count = fc.nat();
  const section = fc
    .record(
      {
        ms: fc.option(time),
        self_ms: fc.option(time),
        n: count,
        device_ms: fc.option(time),
        sync_ms: fc.option(time),
        gc_ms: fc.option(time),
        stall_ms: fc.option(time),
        kernels: count,
        new_bytes: count,
        new_shapes: count,
        tensors: count,
        tokens: count,
        flops: count,
        bytes: count,
        reason: anyText,
      },
      { requiredKeys: ["ms", "self_ms", "n"] },
    )
    .map((value): SectionRecord => value);
  return fc
    .record(
      {
        kind: fc.constant("step" as const),
        step: fc.integer({ min: 1 }),
        attempt: fc.integer({ min: 1, max: 99 }),
        t_ms: time,
        ms: time,
        residual_ms: time,
        ov_us: time,
        sections: named(section),
        lanes: named(fc.record({ busy_ms: time, wait_ms: time, overlap: fc.option(time) })),
        verdict: fc.option(fc.record({ cause: anyText, share: time, confidence: time })),
        metrics: named(fc.option(number)),
        gauges: named(fc.option(number)),
        tags: fc.array(anyText, { maxLength: 3 }),
        nonfinite: fc.array(anyText, { minLength: 1, maxLength: 3 }),
      },
      {
        requiredKeys: [
          "kind",
          "step",
          "attempt",
          "t_ms",
          "ms",
          "residual_ms",
          "ov_us",
          "sections",
          "lanes",
          "verdict",
          "metrics",
          "gauges",
          "tags",
        ],
      },
    )
    .map((value): StepRecord => value);
}

/** Steps that keep to the schema, under any names. */
export const anyStep: fc.Arbitrary<StepRecord> = stepRecord(nanoseconds, finite);

/** Steps with any numbers at all, as a loop that does not look would log them. */
export const wildStep: fc.Arbitrary<StepRecord> = stepRecord(anyNumber, anyNumber);

/** A header whose sections are these. */
export function headerOf(sections: HeaderRecord["sections"], attempt = 1): HeaderRecord {
  return {
    kind: "header",
    v: 1,
    run: "a run",
    attempt,
    rank: 0,
    host: "a host",
    pid: 7,
    start: "2026-01-02T03:04:05.678Z",
    sections,
    calibration: { cost_ns: 60, cost_cold_ns: 1500, bias_ns: 30, resolution_ns: 35 },
    config: { seed: 0 },
  };
}

/** A step of 48.1 ms with two sections. */
export function stepOf(step: number, change: Partial<StepRecord> = {}): StepRecord {
  return {
    kind: "step",
    step,
    attempt: 1,
    t_ms: (step - 1) * 48.2,
    ms: 48.1,
    residual_ms: 0.2,
    ov_us: 4.25,
    sections: { load: { ms: 2.9, self_ms: 2.9, n: 1 }, "drafter/backward": { ms: 45, self_ms: 45, n: 2 } },
    lanes: { drafter: { busy_ms: 45, wait_ms: 2.9, overlap: null } },
    verdict: { cause: "drafter-bound", share: 0.935, confidence: 0.9 },
    metrics: { tokens_per_s: 1234.5, loss: 3.25, accuracy: 0.21 },
    gauges: { queue_depth: 2 },
    tags: [],
    ...change,
  };
}
