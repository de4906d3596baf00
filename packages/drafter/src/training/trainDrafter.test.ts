import { type Engine, startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import type { PackedHiddenStates, TargetHead } from "@dflash/target-forward";
import { createTimer, type Timer } from "@dflash/timer";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { DFlashDrafter } from "../model/createDrafter.ts";
import { adamW } from "../optimizer/adamW.ts";
import { tinyBatch, tinyDrafter, tinyHead } from "../tinyDrafter.test-support.ts";
import { trainDrafter } from "./trainDrafter.ts";
import { createTrainStep, type TrainStep } from "./trainStep.ts";

let engine: Engine;
let ops: Ops;
let head: TargetHead;
let timer: Timer;
let drafter: DFlashDrafter;
let step: TrainStep;
let tensors: number;
beforeAll(async () => {
  engine = await startEngine("wasm", { threads: 1 });
  ops = createOps(engine);
  head = await tinyHead(ops);
});
beforeEach(async () => {
  tensors = engine.memory().tensors;
  timer = createTimer();
  drafter = await tinyDrafter(ops, { timer });
  step = createTrainStep({
    drafter,
    head,
    ops,
    timer,
    optimizer: [adamW({ ops, learningRate: () => 0.01 })],
    anchorsPerRow: 4,
    seed: 1,
  });
});
afterEach(() => {
  for (const part of [drafter, step]) part.dispose();
  const left = engine.memory().tensors - tensors;
  if (left !== 0) throw new Error(`the run left ${left} tensors`);
});
afterAll(() => engine.dispose());

/**
 * Batches 0 to `count` − 1; number `unsupervised` has nothing to learn. `closed` hears of an early end.
 *
 * @yields {PackedHiddenStates} Batches whose disposal is the taker's.
 */
async function* batches(
  count: number,
  { unsupervised = -1, closed = (): void => undefined } = {},
): AsyncGenerator<PackedHiddenStates> {
  let finished = false;
  try {
    for (let index = 0; index < count; index++) {
      yield await tinyBatch(ops, {
        index,
        lengths: [9],
        supervised: (position) => index !== unsupervised && position > 2,
      });
    }
    finished = true;
  } finally {
    if (!finished) closed();
  }
}

test("steps until the source ends; every event comes before its report", async () => {
  const log: string[] = [];
  timer.on("report", ({ step: number }) => log.push(`report ${number}`));
  const training = trainDrafter({
    source: batches(3, { unsupervised: 1 }),
    step,
    steps: 10,
    timer,
    checkpoint: { every: 2, save: async (done) => void log.push(`save ${done}`) },
  });
  training
    .on("step", ({ index, updates }) => log.push(`step ${index}, updates ${updates}`))
    .on("skip", ({ index, skipped }) => log.push(`skip ${index} ${skipped?.cause}`))
    .on("checkpoint", ({ step: done }) => log.push(`checkpoint ${done}`))
    .on("end", ({ reason }) => log.push(`end ${reason}`));
  const summary = await training.finished;
  expect(log).toEqual([
    "step 0, updates 1",
    "report 1",
    "step 1, updates 1",
    "skip 1 no-anchors",
    "save 2",
    "checkpoint 2",
    "report 2",
    "step 2, updates 2",
    "report 3",
    "save 3",
    "checkpoint 3",
    "end source",
  ]);
  expect(summary).toEqual({ steps: 3, skipped: 1, tokens: 27, anchors: 8, reason: "source" });
});

test("stops after the given number of steps and closes the source", async () => {
  const closed = vi.fn<() => void>();
  const { finished } = trainDrafter({ source: batches(9, { closed }), step, steps: 2, timer });
  expect(await finished).toMatchObject({ steps: 2, reason: "steps" });
  expect(closed).toHaveBeenCalledOnce();
});

test("a signal lets the step under way finish", async () => {
  const abort = new AbortController();
  const training = trainDrafter({ source: batches(9), step, steps: 9, timer, signal: abort.signal });
  training.on("step", ({ index }) => index === 1 && abort.abort());
  expect(await training.finished).toMatchObject({ steps: 2, reason: "signal" });
});

test("a source that ends its wait with the signal's reason ends the run too", async () => {
  const abort = new AbortController();
  async function* waiting(): AsyncGenerator<PackedHiddenStates> {
    yield* batches(1);
    abort.abort();
    throw abort.signal.reason;
  }
  const { finished } = trainDrafter({ source: waiting(), step, steps: 9, timer, signal: abort.signal });
  expect(await finished).toMatchObject({ steps: 1, reason: "signal" });
});

/** @yields {PackedHiddenStates} One batch, before it fails. */
async function* failing(): AsyncGenerator<PackedHiddenStates> {
  yield* batches(1);
  throw new Error("target worker died");
}

test("a source that fails rejects the run", async () => {
  await expect(trainDrafter({ source: failing(), step, steps: 9, timer }).finished).rejects.toThrow(
    "target worker died",
  );
});

test("a step that fails rejects the run, disposes its batch and closes the source", async () => {
  const closed = vi.fn<() => void>();
  async function* wrong(): AsyncGenerator<PackedHiddenStates> {
    for await (const batch of batches(2, { closed })) {
      const narrow = ops.zeros([9, 32]);
      yield { ...batch, features: narrow, dispose: () => [batch, narrow].forEach((part) => part.dispose()) };
    }
  }
  const { finished } = trainDrafter({ source: wrong(), step, steps: 9, timer });
  await expect(finished).rejects.toThrow("drafter: the features have shape [9, 32], expected [T, 48]");
  expect(closed).toHaveBeenCalledOnce();
});

test("a listener that throws is reported once and stops neither the run nor other listeners", async () => {
  const report = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const seen: number[] = [];
  const training = trainDrafter({ source: batches(3), step, steps: 3, timer });
  training
    .on("step", () => {
      throw new Error("broken listener");
    })
    .on("step", ({ index }) => seen.push(index));
  expect(await training.finished).toMatchObject({ steps: 3 });
  expect(seen).toEqual([0, 1, 2]);
  expect(report).toHaveBeenCalledOnce();
  expect(report.mock.calls[0]![0]).toBe('drafter: a listener of "step" failed, and is not reported again:');
  report.mockRestore();
});

test("once hears one event, off none", async () => {
  const once = vi.fn<() => void>();
  const off = vi.fn<() => void>();
  const training = trainDrafter({ source: batches(3), step, steps: 3, timer });
  await training.once("step", once).on("step", off).off("step", off).finished;
  expect(once).toHaveBeenCalledOnce();
  expect(off).not.toHaveBeenCalled();
});

test("a step takes as many batches as it accumulates, the last one what is left", async () => {
  const training = trainDrafter({ source: batches(5), step, steps: 9, accumulate: 2, timer });
  const seen: number[][] = [];
  training.on("step", ({ index, batches: count, updates }) => seen.push([index, count, updates]));
  expect(await training.finished).toMatchObject({ steps: 3, tokens: 45, reason: "source" });
  expect(seen).toEqual([
    [1, 2, 1],
    [3, 2, 2],
    [4, 1, 3],
  ]);
});

test("a run that goes on counts the steps before it", async () => {
  const saved: number[] = [];
  const { finished } = trainDrafter({
    source: batches(9),
    step,
    steps: 5,
    stepsBefore: 3,
    timer,
    checkpoint: { every: 4, save: async (done) => void saved.push(done) },
  });
  expect(await finished).toMatchObject({ steps: 5, tokens: 18, reason: "steps" });
  expect(saved).toEqual([4, 5]);
});

test("a run that is done already takes no batch and saves nothing", async () => {
  const save = vi.fn<() => Promise<void>>();
  const { finished } = trainDrafter({
    source: batches(9),
    step,
    steps: 5,
    stepsBefore: 5,
    timer,
    checkpoint: { every: 1, save },
  });
  expect(await finished).toMatchObject({ steps: 5, tokens: 0, reason: "steps" });
  expect(save).not.toHaveBeenCalled();
});

/** @yields {PackedHiddenStates} Nine batches of which only number 0 and number 2 are finite. */
async function* mostlyBad(): AsyncGenerator<PackedHiddenStates> {
  for await (const batch of batches(9)) {
    if (batch.index === 0 || batch.index === 2) yield batch;
    else {
      const features = ops.upload(new Float32Array(9 * 48).fill(Number.NaN), [9, 48]);
      yield { ...batch, features, dispose: () => [batch, features].forEach((part) => part.dispose()) };
    }
  }
}

test.each([
  {
    count: 5,
    every: 2,
    expected: ["measure 2", "tau 2", "save 2", "measure 4", "tau 4", "save 4", "measure 5", "tau 5", "save 5"],
  },
  { count: 4, every: 4, expected: ["save 2", "measure 4", "tau 4", "save 4"] },
  { count: 3, every: 4, expected: ["save 2", "save 3"] },
])(
  "$count steps are evaluated every $every, before their checkpoint, and at the end",
  async ({ count, every, expected }) => {
    const log: string[] = [];
    const measure = async (done: number): Promise<number> => {
      log.push(`measure ${done}`);
      return 1 + done;
    };
    const run = trainDrafter({
      source: batches(count),
      step,
      steps: 9,
      timer,
      evaluation: { every, measure },
      checkpoint: { every: 2, save: async (done) => void log.push(`save ${done}`) },
    });
    run.on("tau", ({ step: done, acceptanceLength }) =>
      log.push(`tau ${Number(acceptanceLength) - 1 === done && done}`),
    );
    await run.finished;
    expect(log).toEqual(expected);
  },
);

test("an evaluation that the signal ends counts for nothing, and the step is saved", async () => {
  const stop = new AbortController();
  const log: string[] = [];
  const run = trainDrafter({
    source: batches(9),
    step,
    steps: 9,
    timer,
    signal: stop.signal,
    evaluation: { every: 2, measure: async () => (stop.abort(), null) },
    checkpoint: { every: 9, save: async (done) => void log.push(`save ${done}`) },
  });
  run.on("tau", () => log.push("tau"));
  expect(await run.finished).toMatchObject({ steps: 2, reason: "signal" });
  expect(log).toEqual(["save 2"]);
});

test("non-finite steps in a row end the run, with a checkpoint", async () => {
  const saved: number[] = [];
  const { finished } = trainDrafter({
    source: mostlyBad(),
    step,
    steps: 9,
    mostSkipped: 2,
    timer,
    checkpoint: { every: 100, save: async (done) => void saved.push(done) },
  });
  // Bad are 1, then 3 and 4.
  expect(await finished).toMatchObject({ steps: 5, skipped: 3, reason: "non-finite" });
  expect(saved).toEqual([5]);
});

test("refuses numbers of steps that make no sense", () => {
  const options = { source: batches(1), step, steps: 1, timer };
  expect(() => trainDrafter({ ...options, steps: 0 })).toThrow("steps is 0, expected an integer of at least 1");
  expect(() => trainDrafter({ ...options, accumulate: 0 })).toThrow("accumulate is 0, expected an integer of at");
  expect(() => trainDrafter({ ...options, stepsBefore: 2 })).toThrow(
    "stepsBefore is 2, expected an integer from 0 to steps, 1",
  );
  expect(() => trainDrafter({ ...options, checkpoint: { every: 0.5, save: async () => undefined } })).toThrow(
    "checkpoint.every is 0.5, expected an integer of at least 1",
  );
});
