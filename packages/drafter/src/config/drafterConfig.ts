import { checkDrafterConfig } from "./checkDrafterConfig.ts";

/** How a decoder layer attends to the context. */
export type LayerType = "full_attention" | "sliding_attention";

/** A drafter's shape and what it was trained for. */
export interface DrafterConfig {
  /** H, the target's width. */
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** V, rows of the target's embedding and LM head. */
  readonly vocabSize: number;
  /** Positions of the rotary table. */
  readonly maxPositions: number;
  readonly epsilon: number;
  readonly ropeTheta: number;
  /** Standard deviation of random weights. */
  readonly initializerRange: number;
  /** One a layer. */
  readonly layerTypes: readonly LayerType[];
  /** W of the sliding layers; null when there are none. */
  readonly slidingWindow: number | null;
  /** B, the anchor's slot included. */
  readonly blockSize: number;
  /** L, decoder layers of the target. */
  readonly targetLayers: number;
  /** The K target layers whose outputs the drafter sees, 0-based. */
  readonly targetLayerIds: readonly number[];
  /** Token that stands in every slot but the anchor's. */
  readonly maskTokenId: number;
}

/** What a drafter takes over from its target. */
export type TargetShape = Pick<
  DrafterConfig,
  | "hiddenSize"
  | "intermediateSize"
  | "layers"
  | "heads"
  | "kvHeads"
  | "headDim"
  | "vocabSize"
  | "maxPositions"
  | "epsilon"
  | "ropeTheta"
>;

export interface DrafterConfigOptions {
  readonly target: TargetShape;
  /** Decoder layers of the drafter; the published ones have 5. */
  readonly layers: number;
  readonly blockSize: number;
  readonly targetLayerIds: readonly number[];
  readonly maskTokenId: number;
}

/**
 * The config of a new drafter with full attention, as wide as its target.
 *
 * @throws {Error} One line that names the field, its value and what was expected.
 */
export function createDrafterConfig(options: DrafterConfigOptions): DrafterConfig {
  const { target, layers, blockSize, targetLayerIds, maskTokenId } = options;
  return checkDrafterConfig("drafter config", {
    hiddenSize: target.hiddenSize,
    intermediateSize: target.intermediateSize,
    layers,
    heads: target.heads,
    kvHeads: target.kvHeads,
    headDim: target.headDim,
    vocabSize: target.vocabSize,
    maxPositions: target.maxPositions,
    epsilon: target.epsilon,
    ropeTheta: target.ropeTheta,
    initializerRange: 0.02,
    layerTypes: undefined,
    slidingWindow: null,
    blockSize,
    targetLayers: target.layers,
    targetLayerIds,
    maskTokenId,
  });
}
