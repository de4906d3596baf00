import { loadCausalLM } from "@dflash/causal-lm";
import { createChatBatches, loadTokenizer } from "@dflash/chat-data";
import {
  adamW,
  clipByGlobalNorm,
  createDrafter,
  createDrafterConfig,
  createTrainStep,
  randomWeights,
  targetLayerIds,
} from "@dflash/drafter";
import type { Ops } from "@dflash/ops";
import type { PackedHiddenStates, TokenBatch } from "@dflash/target-forward";
import { createTimer } from "@dflash/timer";

const data = `${import.meta.dirname}/../../data`;

/** The trainer's default step, on the first batches of its data over and over. */
export interface TrainingStep {
  /** One step: the target's forward, and the drafter's forward, loss, backward, clip and update. Returns the loss. */
  run(): Promise<number>;
  /** Tokens of each batch. */
  readonly tokens: readonly number[];
  dispose(): void;
}

/** The first batches of the default training run. */
export async function firstBatches(count: number): Promise<TokenBatch[]> {
  const tokenizer = await loadTokenizer(`${data}/tiny-target`);
  const file = `${data}/gsm8k/train.tiny-target.jsonl`;
  const all = await createChatBatches({ file, tokenizer, batchRows: 2, maxLength: 512 });
  const batches: TokenBatch[] = [];
  for await (const batch of all) if (batches.push(batch) === count) break;
  await all.close();
  return batches;
}

export async function createTrainingStep(ops: Ops, batches: readonly TokenBatch[]): Promise<TrainingStep> {
  const timer = createTimer();
  timer.enabled = false;
  const model = await loadCausalLM(`${data}/tiny-target`, { ops });
  const config = createDrafterConfig({
    target: { ...model.config, ropeTheta: model.config.rope.theta },
    layers: 2,
    blockSize: 8,
    targetLayerIds: targetLayerIds(model.layers, 5),
    maskTokenId: 3,
  });
  const layerIds = config.targetLayerIds;
  const drafter = await createDrafter({ ops, config, weights: randomWeights(0, config.initializerRange), timer });
  const optimizer = [clipByGlobalNorm({ ops, maxNorm: 1 }), adamW({ ops, learningRate: () => 1e-4 })];
  const step = createTrainStep({ drafter, head: model.head, ops, timer, optimizer, anchorsPerRow: 32, seed: 0 });
  let steps = 0;
  return {
    tokens: batches.map(({ ids }) => ids.length),
    async run() {
      const batch = batches[steps++ % batches.length]!;
      const captured = model.forward(batch, { layerIds }).features;
      const features = ops.concat(captured, -1);
      for (const feature of captured) feature.dispose();
      const packed: PackedHiddenStates = { ...batch, features, last: null, dispose: () => features.dispose() };
      await step.accumulate(packed);
      const { loss } = await step.update();
      packed.dispose();
      return loss ?? NaN;
    },
    dispose() {
      step.dispose();
      drafter.dispose();
      model.dispose();
    },
  };
}
