import type { CausalLM } from "@dflash/causal-lm";
import { createDrafter, createDrafterConfig, type DFlashDrafter, randomWeights, targetLayerIds } from "@dflash/drafter";
import type { Ops } from "@dflash/ops";
import type { Timer } from "@dflash/timer";
import type { TrainConfig } from "./trainConfig.ts";

export interface DrafterForOptions {
  model: CausalLM;
  /** The mask token of the target's tokenizer, where it has one. */
  maskTokenId: number | undefined;
  ops: Ops;
  timer: Timer;
  config: TrainConfig;
}

/** An untrained drafter that fits the target. */
export async function drafterFor({
  model,
  maskTokenId,
  ops,
  timer,
  config,
}: DrafterForOptions): Promise<DFlashDrafter> {
  const mask = config.maskTokenId ?? maskTokenId;
  if (mask === undefined)
    throw new Error(`${config.target}: the tokenizer has no mask token; give an unused one with --mask-token-id`);
  const drafterConfig = createDrafterConfig({
    target: { ...model.config, ropeTheta: model.config.rope.theta },
    layers: config.layers,
    blockSize: config.blockSize,
    targetLayerIds: targetLayerIds(model.layers, config.features),
    maskTokenId: mask,
  });
  const weights = randomWeights(config.seed, drafterConfig.initializerRange);
  return createDrafter({ ops, config: drafterConfig, weights, timer });
}
