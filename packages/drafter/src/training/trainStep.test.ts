import { type Engine, startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import type { PackedHiddenStates, TargetHead } from "@dflash/target-forward";
import { createTimer, type ReportSnapshot } from "@dflash/timer";
import { afterAll, beforeAll, expect, test } from "vitest";
import { randomWeights } from "../model/randomWeights.ts";
import {
  readParameters,
  tinyBatch,
  tinyConfig,
  tinyDrafter,
  tinyHead,
  tinyTraining,
  trainOn,
} from "../tinyDrafter.test-support.ts";
import { createTrainStep } from "./trainStep.ts";

let engine: Engine;
let ops: Ops;
let head: TargetHead;
beforeAll(async () => {
  engine = await startEngine("wasm", { threads: 1 });
  ops = createOps(engine);
  head = await tinyHead(ops);
});
afterAll(() => engine.dispose());

test("learns one batch by heart", async () => {
  const { step, dispose } = await tinyTraining(ops, head);
  const batch = await tinyBatch(ops);
  const first = await trainOn(step, batch);
  let last = first;
  for (let i = 0; i < 80; i++) last = await trainOn(step, batch);
  expect(first.loss).toBeGreaterThan(2);
  expect(last.loss).toBeLessThan(0.1);
  expect(last.rates).toMatchObject({ accuracy: 1, accuracyBySlot: [1, 1, 1] });
  expect(last).toMatchObject({ updates: 81, skipped: null, tokens: 23, anchors: 8, learningRate: 0.01 });
  batch.dispose();
  dispose();
});

test("a batch without two supervised tokens in a row changes nothing", async () => {
  const { drafter, step, dispose } = await tinyTraining(ops, head);
  const batch = await tinyBatch(ops, { supervised: (position) => position % 2 === 0 });
  const before = await readParameters(drafter);
  expect(await trainOn(step, batch)).toEqual({
    index: 0,
    batches: 1,
    updates: 0,
    skippedInARow: 0,
    skipped: { cause: "no-anchors" },
    tokens: 23,
    anchors: 0,
    flops: 0,
    loss: null,
    matches: null,
    rates: null,
    learningRate: null,
    gradientNorm: null,
  });
  expect(await readParameters(drafter)).toEqual(before);
  batch.dispose();
  dispose();
});

test("a NaN in the features skips the step, names them, and the next step goes on", async () => {
  const tensors = engine.memory().tensors;
  const { drafter, step, dispose } = await tinyTraining(ops, head);
  const [good, bad] = [await tinyBatch(ops), await tinyBatch(ops)];
  const poison = Float32Array.from(await bad.features.read());
  // Token 3 of the first row, which a block sees.
  poison[3 * 48] = Number.NaN;
  const features = ops.upload(poison, bad.features.shape);
  const before = await readParameters(drafter);
  const result = await trainOn(step, { ...bad, features });
  expect(result).toMatchObject({ updates: 0, skipped: { cause: "non-finite", tensor: "features" }, rates: null });
  expect(result.loss).toBeNaN();
  expect(await readParameters(drafter)).toEqual(before);
  expect(await trainOn(step, good)).toMatchObject({ updates: 1, skipped: null });
  for (const part of [good, bad, features]) part.dispose();
  dispose();
  expect(engine.memory().tensors).toBe(tensors);
});

test("an infinite parameter is named", async () => {
  const name = "layers.1.mlp.up_proj.weight";
  const weights = async (parameter: string, shape: readonly number[]): Promise<Float32Array> => {
    const drawn = await randomWeights(1, 0.02)(parameter, shape);
    return parameter === name ? drawn.fill(Infinity, 5, 6) : drawn;
  };
  const { step, dispose } = await tinyTraining(ops, head, { weights });
  const batch = await tinyBatch(ops);
  expect((await trainOn(step, batch)).skipped).toEqual({ cause: "non-finite", tensor: name });
  batch.dispose();
  dispose();
});

test("leaves the target's head and the features as they are", async () => {
  const { step, dispose } = await tinyTraining(ops, head);
  const batch = await tinyBatch(ops);
  const frozen = [head.embedTokens, head.lmHead, batch.features];
  const read = async (): Promise<string[]> => Promise.all(frozen.map(async (tensor) => (await tensor.read()).join()));
  const before = await read();
  await trainOn(step, batch);
  expect(await read()).toEqual(before);
  batch.dispose();
  dispose();
});

test("every part of a step is timed, one after another", async () => {
  const timer = createTimer();
  const { step, dispose } = await tinyTraining(ops, head, { timer });
  const batch: PackedHiddenStates = await tinyBatch(ops);
  const reports: ReportSnapshot[] = [];
  timer.on("report", (report) => reports.push(report.snapshot()));
  await timer.step(async () => trainOn(step, batch));
  const { sections } = reports[0]!;
  const parents = Object.fromEntries(Object.entries(sections).map(([name, { parent }]) => [name, parent]));
  expect(parents).toEqual({
    "drafter/forward/features": "drafter/forward",
    "drafter/forward/context": "drafter/forward",
    "drafter/forward/attention": "drafter/forward",
    "drafter/forward/mlp": "drafter/forward",
    "drafter/mask": null,
    "drafter/noise": null,
    "drafter/forward": null,
    "drafter/loss": null,
    "drafter/clip": null,
    "drafter/optimizer": null,
    "drafter/anchors": null,
    "drafter/backward": null,
    "drafter/metrics": null,
  });
  for (const [name, { ms, count }] of Object.entries(sections)) {
    expect([name, ms === null, count > 0]).toEqual([name, false, true]);
  }
  batch.dispose();
  dispose();
});

test("sections say how much they computed", async () => {
  const timer = createTimer();
  const { step, dispose } = await tinyTraining(ops, head, { timer });
  const batch = await tinyBatch(ops);
  const reports: ReportSnapshot[] = [];
  timer.on("report", (report) => reports.push(report.snapshot()));
  const { flops } = await timer.step(async () => trainOn(step, batch));
  const { sections } = reports[0]!;
  const work = ["forward", "loss", "backward"].map((name) => sections[`drafter/${name}`]!.work!.flops);
  expect(work.reduce((sum, part) => sum + part, 0)).toBe(flops);
  expect(sections["drafter/forward"]!.work!.tokens).toBe(batch.ids.length);
  batch.dispose();
  dispose();
});

/** Batches whose pairs are no more than the anchors asked for, so that a row's anchors don't depend on its batch. */
const fewPairs = (lengths: number[]): ReturnType<typeof tinyBatch> =>
  tinyBatch(ops, { lengths, supervised: (position) => position > 2 && position < 7 });

test.each([{ type: "decay" }, { type: "d-pace" }] as const)(
  "a window of two batches updates as one batch of all rows does, by $type",
  async (loss) => {
    const whole = await tinyTraining(ops, head, { loss });
    const parts = await tinyTraining(ops, head, { loss });
    const both = await fewPairs([12, 9]);
    const [first, second] = [ops.slice(both.features, 0, 12), ops.slice(both.features, 12, 21)];
    const rows = (start: number, end: number) => ({
      ...both,
      ids: both.ids.slice(start, end),
      lossMask: both.lossMask.slice(start, end),
      rowStarts: Int32Array.of(0, end - start),
    });
    const once = await trainOn(whole.step, both);
    const twice = await trainOn(parts.step, { ...rows(0, 12), features: first }, { ...rows(12, 21), features: second });
    expect(twice).toMatchObject({ batches: 2, updates: 1, tokens: once.tokens, anchors: once.anchors });
    expect(twice.loss).toBeCloseTo(once.loss!, 5);
    expect(twice.gradientNorm).toBeCloseTo(once.gradientNorm!, 4);
    expect(twice.matches!.accepted).toBe(once.matches!.accepted);
    // AdamW's first update has the rate's size wherever the gradient isn't 0, whatever its own size.
    const [a, b] = [await readParameters(whole.drafter), await readParameters(parts.drafter)];
    for (const [name, values] of a) {
      const difference = values.map((value, i) => value - b.get(name)![i]!);
      expect([name, Math.hypot(...difference) < 1e-3 * 0.01 * Math.sqrt(values.length)]).toEqual([name, true]);
    }
    for (const part of [both, first, second, whole, parts]) part.dispose();
  },
);

test("a batch without anchors leaves a window as it was", async () => {
  const [alone, mixed] = [await tinyTraining(ops, head), await tinyTraining(ops, head)];
  const [batch, empty] = [await tinyBatch(ops), await tinyBatch(ops, { supervised: () => false })];
  const { loss } = await trainOn(alone.step, batch);
  expect(await trainOn(mixed.step, empty, batch, empty)).toMatchObject({ loss, batches: 3, tokens: 69 });
  expect(await readParameters(mixed.drafter)).toEqual(await readParameters(alone.drafter));
  for (const part of [batch, empty, alone, mixed]) part.dispose();
});

test("a batch that isn't finite spoils its window and no other", async () => {
  const { drafter, step, dispose } = await tinyTraining(ops, head);
  const batch = await tinyBatch(ops);
  const features = ops.upload(new Float32Array(23 * 48).fill(Number.POSITIVE_INFINITY), [23, 48]);
  const before = await readParameters(drafter);
  expect(await trainOn(step, batch, { ...batch, features }, batch)).toMatchObject({
    skipped: { cause: "non-finite", tensor: "features" },
    skippedInARow: 1,
  });
  expect(await trainOn(step, { ...batch, features })).toMatchObject({ skippedInARow: 2 });
  expect(await readParameters(drafter)).toEqual(before);
  expect(await trainOn(step, batch)).toMatchObject({ skipped: null, updates: 1, skippedInARow: 0 });
  for (const part of [batch, features]) part.dispose();
  dispose();
});

test("loss and gradients are divided by what all processes sum up to", async () => {
  const asked: (readonly number[])[] = [];
  const alone = await tinyTraining(ops, head);
  const other = await tinyTraining(ops, head, {
    // Another process with the same loss and no weights, so to say.
    reduceSum: async (values) => {
      asked.push(values);
      return values.map((value) => 2 * value);
    },
  });
  const batch = await tinyBatch(ops);
  const [own, shared] = [await trainOn(alone.step, batch), await trainOn(other.step, batch)];
  expect(asked).toHaveLength(1);
  expect(asked[0]![0]! / asked[0]![1]!).toBeCloseTo(own.loss!, 12);
  expect(shared.loss).toBe(own.loss);
  expect(shared.gradientNorm).toBeCloseTo(own.gradientNorm! / 2, 6);
  for (const part of [batch, alone, other]) part.dispose();
});

test("a process without anchors takes part in the sum, and in the update", async () => {
  const asked: (readonly number[])[] = [];
  const { drafter, step, dispose } = await tinyTraining(ops, head, {
    reduceSum: async (values) => {
      asked.push(values);
      return [6, 3];
    },
  });
  const batch = await tinyBatch(ops, { supervised: () => false });
  const tensors = engine.memory().tensors;
  const before = await readParameters(drafter);
  expect(await trainOn(step, batch)).toMatchObject({
    skipped: null,
    updates: 1,
    loss: 2,
    gradientNorm: 0,
    rates: null,
  });
  expect(asked).toEqual([[0, 0]]);
  expect(await readParameters(drafter)).toEqual(before);
  expect(engine.memory().tensors).toBe(tensors);
  batch.dispose();
  dispose();
});

test("a text that holds the mask token itself is learnt as it is", async () => {
  const { step, dispose } = await tinyTraining(ops, head);
  const batch = await tinyBatch(ops);
  const ids = batch.ids.map((id, token) => (token % 3 === 0 ? tinyConfig.maskTokenId : id));
  let last = await trainOn(step, { ...batch, ids });
  const supervised = last.matches!.supervised.reduce((sum, count) => sum + count, 0);
  const plain = await trainOn(step, batch);
  expect(supervised).toBe(plain.matches!.supervised.reduce((sum, count) => sum + count, 0));
  for (let i = 0; i < 120 && last.rates!.accuracy! < 1; i++) last = await trainOn(step, { ...batch, ids });
  expect(last.rates!.accuracy).toBe(1);
  batch.dispose();
  dispose();
});

test("a step that goes on from another's state does what that one does next", async () => {
  const first = await tinyTraining(ops, head);
  const batches = [await tinyBatch(ops), await tinyBatch(ops, { index: 1 }), await tinyBatch(ops, { index: 2 })];
  await trainOn(first.step, batches[0]!);
  await trainOn(first.step, batches[1]!);
  const parameters = await readParameters(first.drafter);
  const state = new Map<string, Float32Array>();
  for (const [name, tensor] of first.step.optimizerState) state.set(name, Float32Array.from(await tensor.read()));

  const second = await tinyTraining(ops, head, { weights: (name) => parameters.get(name)! });
  const tensors = engine.memory().tensors;
  await second.step.restore(first.step.counters, (name) => state.get(name)!);
  expect(engine.memory().tensors).toBe(tensors);
  expect(await trainOn(second.step, batches[2]!)).toEqual(await trainOn(first.step, batches[2]!));
  expect(await readParameters(second.drafter)).toEqual(await readParameters(first.drafter));
  for (const part of [...batches, first, second]) part.dispose();
});

test("refuses a head of another model, and options out of range", async () => {
  const drafter = await tinyDrafter(ops);
  const options = { drafter, head, ops, timer: createTimer(), optimizer: [], anchorsPerRow: 4, seed: 1 };
  expect(() => createTrainStep({ ...options, head: { ...head, vocabSize: 41 } })).toThrow(
    `train step: the target head's vocabSize is 41, expected the drafter's ${tinyConfig.vocabSize}`,
  );
  expect(() => createTrainStep({ ...options, anchorsPerRow: 0 })).toThrow("anchorsPerRow is 0, expected an integer");
  expect(() => createTrainStep({ ...options, seed: -1 })).toThrow(
    "seed is -1, expected an integer from 0 to 4294967295",
  );
  drafter.dispose();
});
