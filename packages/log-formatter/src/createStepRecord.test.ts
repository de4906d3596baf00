import { createTimer, type SectionReport } from "@dflash/timer";
import { expect, test } from "vitest";
import { createStepRecord, type StepTimes } from "./createStepRecord.ts";

function section(ms: number | null, reason?: string): SectionReport {
  const times = {
    name: "",
    ms,
    selfMs: ms,
    count: 1,
    parent: null,
    lane: "main",
    role: null,
    waitsFor: null,
    work: null,
    causes: null,
  };
  return reason === undefined ? times : { ...times, reason };
}

function snapshot(sections: Record<string, SectionReport>): StepTimes {
  const lanes = { main: { busyMs: 47.9, waitMs: 0, residualMs: 0.2, overlap: null, overlapMs: {} } };
  return { step: 7, startMs: 100, ms: 48.1, residualMs: 0.2, overheadUs: 4, tags: ["eval"], sections, lanes };
}

test("a report and what the loop knows become one record", () => {
  const record = createStepRecord(snapshot({ load: section(47.9) }), {
    attempt: 2,
    metrics: { loss: 3.25 },
    gauges: { queue_depth: 0 },
    tags: ["skipped"],
    verdict: { cause: "data-bound", share: 0.99, confidence: 0.9 },
  });
  expect(record).toEqual({
    kind: "step",
    step: 7,
    attempt: 2,
    t_ms: 100,
    ms: 48.1,
    residual_ms: 0.2,
    ov_us: 4,
    sections: { load: { ms: 47.9, self_ms: 47.9, n: 1 } },
    lanes: { main: { busy_ms: 47.9, wait_ms: 0, overlap: null } },
    verdict: { cause: "data-bound", share: 0.99, confidence: 0.9 },
    metrics: { loss: 3.25 },
    gauges: { queue_depth: 0 },
    tags: ["eval", "skipped"],
  });
});

test("what is missing is null, with the reason where there is one, and never 0", () => {
  const { sections, metrics, verdict, tags } = createStepRecord(snapshot({ load: section(null, "pending") }), {
    metrics: { loss: undefined, accuracy: null, zero: 0 },
  });
  expect(sections["load"]).toEqual({ ms: null, self_ms: null, n: 1, reason: "pending" });
  expect(metrics).toEqual({ loss: null, accuracy: null, zero: 0 });
  expect(verdict).toBeNull();
  expect(tags).toEqual(["eval"]);
});

test("what timer and engine can tell of a section is there, and nothing else", () => {
  const full = {
    ...section(1),
    deviceMs: null,
    gcMs: 0,
    stallMs: 0.5,
    work: { tokens: 512, flops: 0, bytes: 0 },
    causes: { kernels: 12, newBytes: 0, newShapes: null, tensors: -1, syncMs: 0.25 },
  };
  expect(createStepRecord(snapshot({ full, bare: section(1) })).sections).toEqual({
    full: {
      ms: 1,
      self_ms: 1,
      n: 1,
      device_ms: null,
      sync_ms: 0.25,
      gc_ms: 0,
      stall_ms: 0.5,
      kernels: 12,
      new_bytes: 0,
      tensors: -1,
      tokens: 512,
    },
    bare: { ms: 1, self_ms: 1, n: 1 },
  });
});

test("NaN and infinities are null and named once; what is only missing is not named", () => {
  const record = createStepRecord(snapshot({ load: section(NaN), backward: section(null) }), {
    metrics: { loss: NaN, accuracy: null, norm: Infinity },
    gauges: { loss: -Infinity },
  });
  expect(record.nonfinite).toEqual(["load", "loss", "norm"]);
  expect(record.metrics).toEqual({ loss: null, accuracy: null, norm: null });
  expect(record.gauges).toEqual({ loss: null });
  expect(record.sections["load"]!.ms).toBeNull();
  expect("nonfinite" in createStepRecord(snapshot({}))).toBe(false);
});

test("a real timer's step still adds up to the nanosecond in its record", () => {
  const timer = createTimer();
  const [outer, inner, other] = ["outer", "outer/inner", "other"].map((name) => timer.section(name));
  const records: ReturnType<typeof createStepRecord>[] = [];
  timer.on("report", (report) => records.push(createStepRecord(report)));
  for (let step = 0; step < 20; step++) {
    timer.step(() => {
      outer!.time(() => inner!.time(() => JSON.stringify(records)));
      other!.time(() => JSON.stringify(records));
    });
  }
  for (const { ms, residual_ms, sections } of records) {
    const nanoseconds = [...Object.values(sections).map(({ self_ms }) => self_ms!), residual_ms].reduce(
      (sum, part) => sum + Math.round(part * 1e6),
      0,
    );
    expect(nanoseconds).toBe(Math.round(ms * 1e6));
  }
  expect(records.map(({ step }) => step)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
});
