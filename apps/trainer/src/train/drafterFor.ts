import type { CausalLMConfig } from "@dflash/causal-lm";
import {
  createDrafter,
  createDrafterConfig,
  type DFlashDrafter,
  type DrafterConfig,
  type LayerType,
  type LoadedCheckpoint,
  loadDrafter,
  randomWeights,
  targetLayerIds,
} from "@dflash/drafter";
import type { Ops } from "@dflash/ops";
import type { Timer } from "@dflash/timer";
import type { TrainConfig } from "./trainConfig.ts";

export interface DrafterForOptions {
  target: CausalLMConfig;
  /** Of a new drafter. */
  maskTokenId: number;
  ops: Ops;
  timer: Timer;
  config: TrainConfig;
  /** Where the run goes on from. */
  checkpoint: LoadedCheckpoint | null;
}

/** The drafter that a run begins with: the checkpoint's, the one that it is to train further, or an untrained one that fits the target. */
export async function drafterFor(options: DrafterForOptions): Promise<DFlashDrafter> {
  const { target, ops, timer, config, checkpoint } = options;
  if (checkpoint !== null) return createDrafter({ ops, timer, ...checkpoint });
  if (config.init === null) {
    const drafterConfig = untrained(options);
    const weights = randomWeights(config.seed, drafterConfig.initializerRange);
    return createDrafter({ ops, config: drafterConfig, weights, timer });
  }
  const drafter = await loadDrafter(config.init, { ops, timer });
  const { hiddenSize, vocabSize, targetLayers } = drafter.config;
  const fields = { hiddenSize, vocabSize, layers: targetLayers };
  for (const field of ["hiddenSize", "vocabSize", "layers"] as const) {
    if (fields[field] === target[field]) continue;
    drafter.dispose();
    throw new Error(
      `--init ${config.init}: made for a target whose ${field} is ${fields[field]}, the one in ${config.target} has ${target[field]}`,
    );
  }
  return drafter;
}

function untrained({ target, maskTokenId, config }: DrafterForOptions): DrafterConfig {
  const { layers, slidingWindow } = config;
  if (slidingWindow !== null && layers === 1)
    throw new Error(`--sliding-window ${slidingWindow}: the last layer sees all the context, and it is the only one`);
  if (target.layers < 4 && config.features > 1)
    throw new Error(
      `--features ${config.features}: the target in ${config.target} has ${target.layers} layers, too few to choose from; give --features 1`,
    );
  const slides = Array<LayerType>(layers - 1).fill("sliding_attention");
  return createDrafterConfig({
    target: { ...target, ropeTheta: target.rope.theta },
    size: {
      intermediateSize: config.intermediateSize ?? target.intermediateSize,
      heads: config.heads ?? target.heads,
      kvHeads: config.kvHeads ?? target.kvHeads,
      headDim: config.headDim ?? target.headDim,
    },
    layers,
    // As in the published drafters that have sliding layers.
    ...(slidingWindow !== null && { slidingWindow, layerTypes: [...slides, "full_attention"] }),
    blockSize: config.blockSize,
    targetLayerIds: targetLayerIds(target.layers, config.features),
    maskTokenId,
  });
}
