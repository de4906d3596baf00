import { type Engine, startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import type { PackedHiddenStates, TargetHead } from "@dflash/target-forward";
import { createTimer, type ReportSnapshot } from "@dflash/timer";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DFlashDrafter } from "../model/createDrafter.ts";
import { randomWeights } from "../model/randomWeights.ts";
import { tinyBatch, tinyConfig, tinyDrafter, tinyHead, tinyTraining } from "../tinyDrafter.test-support.ts";
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

async function values(drafter: DFlashDrafter): Promise<string> {
  const all = await Promise.all([...drafter.parameters.values()].map(async (tensor) => (await tensor.read()).join()));
  return all.join();
}

test("learns one batch by heart", async () => {
  const { step, dispose } = await tinyTraining(ops, head);
  const batch = await tinyBatch(ops);
  const first = await step(batch);
  let last = first;
  for (let i = 0; i < 80; i++) last = await step(batch);
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
  const before = await values(drafter);
  expect(await step(batch)).toEqual({
    index: 0,
    updates: 0,
    skipped: { cause: "no-anchors" },
    tokens: 23,
    anchors: 0,
    loss: null,
    matches: null,
    rates: null,
    learningRate: null,
    gradientNorm: null,
  });
  expect(await values(drafter)).toBe(before);
  batch.dispose();
  dispose();
});

test("a NaN in the features skips the step, names them, and the next step goes on", async () => {
  const { drafter, step, dispose } = await tinyTraining(ops, head);
  const [good, bad] = [await tinyBatch(ops), await tinyBatch(ops)];
  const poison = Float32Array.from(await bad.features.read());
  // Token 3 of the first row, which a block sees.
  poison[3 * 48] = Number.NaN;
  const features = ops.upload(poison, bad.features.shape);
  const before = await values(drafter);
  const tensors = engine.memory().tensors;
  const result = await step({ ...bad, features });
  expect(result).toMatchObject({ updates: 0, skipped: { cause: "non-finite", tensor: "features" }, rates: null });
  expect(result.loss).toBeNaN();
  expect(engine.memory().tensors).toBe(tensors);
  expect(await values(drafter)).toBe(before);
  expect(await step(good)).toMatchObject({ updates: 1, skipped: null });
  for (const part of [good, bad, features]) part.dispose();
  dispose();
});

test("an infinite parameter is named", async () => {
  const name = "layers.1.mlp.up_proj.weight";
  const weights = async (parameter: string, shape: readonly number[]): Promise<Float32Array> => {
    const drawn = await randomWeights(1, 0.02)(parameter, shape);
    return parameter === name ? drawn.fill(Infinity, 5, 6) : drawn;
  };
  const { step, dispose } = await tinyTraining(ops, head, { weights });
  const batch = await tinyBatch(ops);
  expect((await step(batch)).skipped).toEqual({ cause: "non-finite", tensor: name });
  batch.dispose();
  dispose();
});

test("leaves the target's head and the features as they are", async () => {
  const { step, dispose } = await tinyTraining(ops, head);
  const batch = await tinyBatch(ops);
  const frozen = [head.embedTokens, head.lmHead, batch.features];
  const read = async (): Promise<string[]> => Promise.all(frozen.map(async (tensor) => (await tensor.read()).join()));
  const before = await read();
  await step(batch);
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
  await timer.step(async () => step(batch));
  const { sections } = reports[0]!;
  const parents = Object.fromEntries(Object.entries(sections).map(([name, { parent }]) => [name, parent]));
  expect(parents).toEqual({
    "drafter/forward/features": "drafter/forward",
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
