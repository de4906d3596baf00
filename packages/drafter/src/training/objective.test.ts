import { type Engine, startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import type { PackedHiddenStates, TargetHead } from "@dflash/target-forward";
import { createTimer } from "@dflash/timer";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blockTargets } from "../blocks/blockTargets.ts";
import { sampleAnchors } from "../blocks/sampleAnchors.ts";
import { slotWeights } from "../blocks/slotWeights.ts";
import type { DFlashDrafter } from "../model/createDrafter.ts";
import { parameterShapes } from "../model/parameterShapes.ts";
import { randomWeights, type WeightSource } from "../model/randomWeights.ts";
import { tinyBatch, tinyConfig, tinyDrafter, tinyHead } from "../tinyDrafter.test-support.ts";
import { createObjective } from "./objective.ts";

let engine: Engine;
let ops: Ops;
let head: TargetHead;
beforeAll(async () => {
  engine = await startEngine("wasm", { threads: 1 });
  ops = createOps(engine);
  head = await tinyHead(ops);
});
afterAll(() => engine.dispose());

interface Evaluation {
  readonly loss: number;
  readonly gradients: Float32Array[];
  readonly weightSum: number;
}

/** Loss and gradients of a drafter on the anchors of a batch; `weightSum` is the batch's own unless given. */
async function evaluate(drafter: DFlashDrafter, batch: PackedHiddenStates, weightSum?: number): Promise<Evaluation> {
  const blocks = sampleAnchors(batch, { anchorsPerRow: 3, seed: 1 });
  const targets = blockTargets(blocks, batch, slotWeights(tinyConfig.blockSize, 2));
  const objective = createObjective({ drafter, head, ops, timer: createTimer() });
  const recording = objective(batch, blocks, targets, weightSum ?? targets.weightSum);
  const tensors = recording.backward();
  const gradients = await Promise.all(tensors.map(async (tensor) => Float32Array.from(await tensor.read())));
  const [loss] = await recording.outputs.loss.read();
  for (const tensor of [...tensors, ...Object.values(recording.outputs)]) tensor.dispose();
  return { loss: loss!, gradients, weightSum: targets.weightSum };
}

const weights = randomWeights(1, 0.2);

test.each([...parameterShapes(tinyConfig).keys()].map((name, index) => [name, index] as const))(
  "the gradient of %s is what the loss does when it moves",
  async (name, index) => {
    const batch = await tinyBatch(ops);
    const base = await tinyDrafter(ops, { weights });
    const gradient = (await evaluate(base, batch)).gradients[index]!;
    base.dispose();
    const direction = await randomWeights(9, 1)(name, [gradient.length, 1]);
    const lossAt = async (distance: number): Promise<number> => {
      const moved: WeightSource = async (parameter, shape) => {
        const values = await weights(parameter, shape);
        return parameter === name ? values.map((value, i) => value + distance * direction[i]!) : values;
      };
      const drafter = await tinyDrafter(ops, { weights: moved });
      const { loss } = await evaluate(drafter, batch);
      drafter.dispose();
      return loss;
    };
    const distance = 0.01 / Math.hypot(...direction);
    // Richardson's step from two central differences leaves an error of the fourth order.
    const slope = async (h: number): Promise<number> => ((await lossAt(h)) - (await lossAt(-h))) / (2 * h);
    const measured = (4 * (await slope(distance * 4)) - (await slope(distance * 8))) / 3;
    const predicted = gradient.reduce((sum, value, i) => sum + value * direction[i]!, 0);
    expect(Math.abs(measured - predicted)).toBeLessThan(0.01 * Math.hypot(...gradient));
    expect(Math.hypot(...gradient)).toBeGreaterThan(0);
    batch.dispose();
  },
);

test("rows computed apart, under the weights of all, add up to the batch", async () => {
  const drafter = await tinyDrafter(ops, { weights });
  // Three pairs a row and three anchors: a row alone gets the same ones.
  const batch = await tinyBatch(ops, { lengths: [12, 12], supervised: (position) => position > 2 && position < 7 });
  const whole = await evaluate(drafter, batch);
  const parts = await Promise.all(
    [0, 12].map(async (start) => {
      const end = start + 12;
      const features = ops.slice(batch.features, start, end);
      const rows = {
        ids: batch.ids.slice(start, end),
        lossMask: batch.lossMask.slice(start, end),
        rowStarts: Int32Array.of(0, 12),
      };
      const part = await evaluate(drafter, { ...batch, ...rows, features }, whole.weightSum);
      features.dispose();
      return part;
    }),
  );
  expect(parts[0]!.loss + parts[1]!.loss).toBeCloseTo(whole.loss, 5);
  for (const [i, gradient] of whole.gradients.entries()) {
    const difference = gradient.map((value, at) => value - parts[0]!.gradients[i]![at]! - parts[1]!.gradients[i]![at]!);
    expect(Math.hypot(...difference)).toBeLessThan(1e-5 * Math.hypot(...gradient));
  }
  for (const part of [drafter, batch]) part.dispose();
});

test("a head that knows nothing costs ln V a token, whatever the weights", async () => {
  const drafter = await tinyDrafter(ops, { weights });
  const batch = await tinyBatch(ops);
  const { lmHead } = head;
  head = { ...head, lmHead: ops.zeros(lmHead.shape) };
  expect((await evaluate(drafter, batch)).loss).toBeCloseTo(Math.log(tinyConfig.vocabSize), 5);
  for (const part of [drafter, batch, head.lmHead]) part.dispose();
  head = { ...head, lmHead };
});
