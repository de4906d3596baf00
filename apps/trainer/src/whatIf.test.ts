import type { StepRecord } from "@dflash/log-formatter";
import { expect, test } from "vitest";
import { parseWhatIf, whatIf, whatIfLines } from "./whatIf.ts";

const section = (ms: number) => ({ ms, self_ms: ms, n: 1 });

/** A step of 100 ms for the drafter, in which it waited 64 ms for data and target. */
const inline = (step: number): StepRecord =>
  ({
    kind: "step",
    step,
    ms: 164,
    sections: {
      data: section(1),
      "target/forward": section(60),
      "target/pack": section(3),
      "queue/wait": section(64),
      "drafter/backward": section(100),
    },
    metrics: { tokens: 82 },
    tags: step === 1 ? ["warmup"] : [],
  }) as unknown as StepRecord;
const steps = Array.from({ length: 11 }, (_, i) => inline(i + 1));
const config = { threads: 1, targetWorkers: 0, queue: 3, minReady: 1 };

test("a replay of the run's own settings takes as long as the run", () => {
  const { recorded, replayed, steps: counted } = whatIf({ config }, steps, new Map());
  expect(counted).toBe(10);
  expect(recorded).toEqual({ ms: 1640, tokensPerSecond: 500 });
  expect(replayed).toMatchObject({ ms: 1640, tokensPerSecond: 500, waits: { target: 630, data: 10, queue: 0 } });
});

test("measuring the drafter takes its time, but none of training's", () => {
  const evaluated = steps.map((step) =>
    step.step === 5 ? { ...step, ms: step.ms + 9000, sections: { ...step.sections, eval: section(9000) } } : step,
  );
  const changes = parseWhatIf("target-workers=1,cores=3");
  expect(whatIf({ config }, evaluated, changes)).toEqual(whatIf({ config }, steps, changes));
});

test("a worker hides the target behind the drafter where there are cores for both", () => {
  const changes = parseWhatIf("target-workers=1,cores=3");
  const found = whatIf({ config }, steps, changes);
  expect(found.predicted.ms).toBeCloseTo(64 + 10 * 100, 9);
  const oneCore = whatIf({ config }, steps, parseWhatIf("target-workers=1,cores=1"));
  expect(oneCore.predicted.ms).toBeCloseTo(1640, 9);
  expect(whatIfLines(found, "target-workers=1,cores=3")).toEqual([
    "recorded   164.0 ms a step, 500 tokens/s",
    "replayed   164.0 ms a step, 500 tokens/s",
    "predicted  106.4 ms a step, 771 tokens/s (+54.1 %) with target-workers=1,cores=3",
    "verdict    drafter-bound; the drafter waits 5.9 % for target, 0.1 % for data",
  ]);
});

test("threads that a worker takes from the drafter make both slower", () => {
  // Inline both engines took two threads in turn; beside each other they have one each.
  const shared = { ...config, threads: null };
  const { predicted } = whatIf({ config: shared }, steps, parseWhatIf("target-workers=1,cores=2"));
  expect(predicted.ms).toBeGreaterThan(10 * 100 * (1 + 1e-9));
});

/** Steps of 100 ms of drafter and 60 ms of target, on so many cores by the processor's time. */
const on = (cores: number): StepRecord[] =>
  steps.map((step) => ({
    ...step,
    ms: 160,
    sections: { "target/forward": section(60), "queue/wait": section(60) },
    lanes: {
      drafter: { busy_ms: 100, wait_ms: 60, overlap: 0 },
      target: { busy_ms: 60, wait_ms: 0, overlap: 0 },
    },
    metrics: { tokens: 82, cpu_ms: 160 * cores },
  }));

/** What a worker on two cores would make of them, ms. */
const asked = (cores: number): number =>
  whatIf({ config: { ...config, threads: 2 } }, on(cores), parseWhatIf("target-workers=1,cores=2")).predicted.ms;

test("cores that an inline step leaves idle are the worker's", () => {
  // A first batch of 60 ms; then ten steps of 100 ms, nine batches beside them.
  expect(asked(1)).toBeCloseTo(60 + 1000, 9);
  // While both want a core and a half they go at two thirds: 540 ms of target take 810, in which 540 of the drafter's get done.
  expect(asked(1.5)).toBeCloseTo(60 + 810 + 460, 9);
  expect(asked(2)).toBeCloseTo(1600, 9);
});

test("beside the drafter, the target's time is the mean of all steps", () => {
  const beside = steps.map((step, i) => ({
    ...step,
    ms: 110,
    sections: {
      "queue/wait": section(10),
      "queue/receive": section(2),
      "target/forward": section(i % 2 ? 0 : 40),
      "target/forward@target[1]": section(i % 2 ? 80 : 0),
      "target/hand-over": section(3),
    },
  })) as StepRecord[];
  const of = whatIf({ config: { ...config, targetWorkers: 2 } }, beside, parseWhatIf("target-workers=0"));
  expect(of.predicted.ms).toBeCloseTo(10 * (102 + 63), 9);
});

test("what can't be asked is said in one line", () => {
  const expected = "expected target-workers=N, queue=N, min-ready=N, cores=N with whole numbers";
  for (const text of ["speed=2", "queue", "queue=", "queue=1.5", "queue=-1", "queue=1=2", "queue=0x10", "queue= 2", ""])
    expect(() => parseWhatIf(text)).toThrow(expected);
  expect(() => parseWhatIf("target-workers=1000000000")).toThrow("expected a whole number from 0 to 64");
  expect(() => parseWhatIf("queue=2,queue=3")).toThrow("--what-if queue=3: queue is given twice");
  expect(() => whatIf({ config }, steps.slice(0, 1), new Map())).toThrow("no step besides the first");
  expect(() => whatIf({ config }, steps, parseWhatIf("min-ready=9"))).toThrow("queue minReady is 9");
});

test("settings in a log that can't have been are taken for none", () => {
  const { replayed } = whatIf({ config: { ...config, targetWorkers: 1e9, queue: -1 } }, steps, new Map());
  expect(replayed.ms).toBe(1640);
});
