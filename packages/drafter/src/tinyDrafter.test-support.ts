import type { Ops } from "@dflash/ops";
import type { PackedHiddenStates, TargetHead } from "@dflash/target-forward";
import { createTimer, type Timer } from "@dflash/timer";
import { createDrafterConfig, type DrafterConfig } from "./config/drafterConfig.ts";
import { createDrafter, type DFlashDrafter } from "./model/createDrafter.ts";
import { randomWeights, type WeightSource } from "./model/randomWeights.ts";
import { adamW } from "./optimizer/adamW.ts";
import { clipByGlobalNorm } from "./optimizer/clipByGlobalNorm.ts";
import type { StepResult } from "./training/stepResult.ts";
import type { TrainBatch } from "./training/trainBatch.ts";
import { createTrainStep, type TrainStep, type TrainStepOptions } from "./training/trainStep.ts";

/** A drafter of two layers with grouped heads, small enough for thousands of steps. */
export const tinyConfig: DrafterConfig = createDrafterConfig({
  target: {
    hiddenSize: 16,
    intermediateSize: 24,
    layers: 8,
    heads: 4,
    kvHeads: 2,
    headDim: 8,
    vocabSize: 40,
    maxPositions: 64,
    epsilon: 1e-6,
    ropeTheta: 10000,
  },
  layers: 2,
  blockSize: 4,
  targetLayerIds: [1, 3, 5],
  maskTokenId: 39,
});

/** Weights ten times those of training, so that every parameter matters. */
export async function tinyDrafter(
  ops: Ops,
  { weights = randomWeights(1, 0.2), timer = createTimer() }: { weights?: WeightSource; timer?: Timer } = {},
): Promise<DFlashDrafter> {
  return createDrafter({ ops, config: tinyConfig, weights, timer });
}

export async function tinyHead(ops: Ops): Promise<TargetHead> {
  const { vocabSize, hiddenSize } = tinyConfig;
  const weights = randomWeights(2, 0.5);
  const embedTokens = ops.upload(await weights("embedTokens", [vocabSize, hiddenSize]), [vocabSize, hiddenSize]);
  const lmHead = ops.upload(await weights("lmHead", [vocabSize, hiddenSize]), [vocabSize, hiddenSize]);
  const finalNorm = ops.upload(new Float32Array(hiddenSize).fill(1), [hiddenSize]);
  return {
    vocabSize,
    hiddenSize,
    embedTokens,
    lmHead,
    finalNorm,
    normEpsilon: 1e-6,
    dispose: () => [embedTokens, lmHead, finalNorm].forEach((tensor) => tensor.dispose()),
  };
}

/** Features of a batch, as the target might give them. */
export async function tinyFeatures(tokens: number, seed: number): Promise<Float32Array> {
  return randomWeights(seed, 1)("features", [tokens, tinyConfig.targetLayerIds.length * tinyConfig.hiddenSize]);
}

/** A batch of rows of the given lengths, of which all but the first three tokens are supervised unless `supervised` says otherwise. */
export async function tinyBatch(
  ops: Ops,
  { index = 0, lengths = [14, 9], supervised = (position: number): boolean => position > 2 } = {},
): Promise<PackedHiddenStates> {
  const rowStarts = new Int32Array(lengths.length + 1);
  for (const [row, length] of lengths.entries()) rowStarts[row + 1] = rowStarts[row]! + length;
  const tokens = rowStarts.at(-1)!;
  const positions = lengths.flatMap((length) => Array.from({ length }, (_, position) => position));
  const values = await tinyFeatures(tokens, index);
  const features = ops.upload(values, [tokens, values.length / tokens]);
  return {
    index,
    ids: Int32Array.from({ length: tokens }, (_, token) => (7 * token + 3 * index) % 37),
    lossMask: Uint8Array.from(positions, (position) => (supervised(position) ? 1 : 0)),
    rowStarts,
    features,
    last: null,
    dispose: () => features.dispose(),
  };
}

/** A drafter with small weights and the step that trains it. */
export async function tinyTraining(
  ops: Ops,
  head: TargetHead,
  {
    timer = createTimer(),
    weights = randomWeights(1, 0.02),
    ...options
  }: { weights?: WeightSource } & Partial<TrainStepOptions> = {},
): Promise<{ drafter: DFlashDrafter; step: TrainStep; dispose: () => void }> {
  const drafter = await tinyDrafter(ops, { timer, weights });
  const optimizer = [clipByGlobalNorm({ ops }), adamW({ ops, learningRate: () => 0.01 })];
  const step = createTrainStep({ drafter, head, ops, timer, optimizer, anchorsPerRow: 4, seed: 1, ...options });
  return { drafter, step, dispose: () => [drafter, step].forEach((part) => part.dispose()) };
}

/** One step on the given batches. */
export async function trainOn(step: TrainStep, ...batches: readonly TrainBatch[]): Promise<StepResult> {
  for (const batch of batches) await step.accumulate(batch);
  return step.update();
}

/** Copies of a drafter's parameters. */
export async function readParameters({ parameters }: DFlashDrafter): Promise<Map<string, Float32Array>> {
  const values = new Map<string, Float32Array>();
  for (const [name, tensor] of parameters) values.set(name, Float32Array.from(await tensor.read()));
  return values;
}
