import type { CausalLMConfig } from "@dflash/causal-lm";
import { createDrafter, createDrafterConfig, type DFlashDrafter, randomWeights, targetLayerIds } from "@dflash/drafter";
import type { Ops } from "@dflash/ops";
import type { Timer } from "@dflash/timer";
import type { TrainConfig } from "./trainConfig.ts";

export interface DrafterForOptions {
  target: CausalLMConfig;
  /** The mask token of the target's tokenizer, where it has one. */
  maskTokenId: number | undefined;
  ops: Ops;
  timer: Timer;
  config: TrainConfig;
}

/** An untrained drafter that fits the target. */
export async function drafterFor({
  target,
  maskTokenId,
  ops,
  timer,
  config,
}: DrafterForOptions): Promise<DFlashDrafter> {
  const mask = config.maskTokenId ?? maskTokenId;
  if (mask === undefined)
    throw new Error(`${config.target}: the tokenizer has no mask token; give an unused one with --mask-token-id`);
  const drafterConfig = createDrafterConfig({
    target: { ...target, ropeTheta: target.rope.theta },
    layers: config.layers,
    blockSize: config.blockSize,
    targetLayerIds: targetLayerIds(target.layers, config.features),
    maskTokenId: mask,
  });
  const weights = randomWeights(config.seed, drafterConfig.initializerRange);
  return createDrafter({ ops, config: drafterConfig, weights, timer });
}
