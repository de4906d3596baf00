import { checkDrafterConfig } from "./checkDrafterConfig.ts";
import { checkMaskToken, type TextTokens } from "./checkMaskToken.ts";

/** How a decoder layer attends to the context. */
export type LayerType = "full_attention" | "sliding_attention";

/** A drafter's shape and what it was trained for. */
export interface DrafterConfig {
  /** H, the target's width. */
  readonly hiddenSize: number;
  /** I, the width of the MLP. */
  readonly intermediateSize: number;
  /** Decoder layers of the drafter. */
  readonly layers: number;
  /** Query heads of each layer. */
  readonly heads: number;
  /** Heads of keys and values; each serves `heads / kvHeads` query heads. */
  readonly kvHeads: number;
  /** Width of a head. */
  readonly headDim: number;
  /** V, rows of the target's embedding and LM head. */
  readonly vocabSize: number;
  /** Positions that a row has at most. */
  readonly maxPositions: number;
  /** ε of every RMSNorm. */
  readonly epsilon: number;
  /** Base of the rotary frequencies. */
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

/** A drafter's own width; whatever is left out is the target's. */
export type DrafterSize = Partial<Pick<DrafterConfig, "intermediateSize" | "heads" | "kvHeads" | "headDim">>;

/** Settings of {@link createDrafterConfig}. */
export interface DrafterConfigOptions extends TextTokens {
  /** What the drafter takes over from its target. */
  readonly target: TargetShape;
  /** The hidden size is the target's in any case: the drafter computes on its embeddings and feeds its head. */
  readonly size?: DrafterSize;
  /** Decoder layers of the drafter; the published ones have 5. */
  readonly layers: number;
  /** B, the anchor's slot included. */
  readonly blockSize: number;
  /** The K target layers whose outputs the drafter sees, 0-based, such as those of `targetLayerIds`. */
  readonly targetLayerIds: readonly number[];
  /** Token that stands in every slot but the anchor's. */
  readonly maskTokenId: number;
  /** One a layer; full attention everywhere unless given. */
  readonly layerTypes?: readonly LayerType[];
  /** W of the sliding layers, by SpecForge's rule: offset o of a block at anchor a sees context keys j > a + o − W. */
  readonly slidingWindow?: number;
}

/**
 * The config of a new drafter for a target.
 *
 * @throws {Error} One line that names the field, its value and what was expected.
 */
export function createDrafterConfig(options: DrafterConfigOptions): DrafterConfig {
  const { target, size = {}, layers, blockSize, targetLayerIds, maskTokenId } = options;
  checkMaskToken("drafter config: maskTokenId", maskTokenId, options);
  return checkDrafterConfig("drafter config", {
    hiddenSize: target.hiddenSize,
    intermediateSize: size.intermediateSize ?? target.intermediateSize,
    layers,
    heads: size.heads ?? target.heads,
    kvHeads: size.kvHeads ?? target.kvHeads,
    headDim: size.headDim ?? target.headDim,
    vocabSize: target.vocabSize,
    maxPositions: target.maxPositions,
    epsilon: target.epsilon,
    ropeTheta: target.ropeTheta,
    initializerRange: 0.02,
    layerTypes: options.layerTypes,
    slidingWindow: options.slidingWindow,
    blockSize,
    targetLayers: target.layers,
    targetLayerIds,
    maskTokenId,
  });
}
