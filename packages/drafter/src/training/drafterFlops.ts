import type { RowRanges } from "@dflash/block-mask";
import type { LayerRanges } from "../blocks/blockRanges.ts";
import type { DrafterConfig } from "../config/drafterConfig.ts";

/** Floating-point operations of one batch, a multiplication and an addition being two. */
export interface DrafterFlops {
  /** The drafter's forward. */
  readonly forward: number;
  /** Logits of the supervised slots, the target's too where they are learnt from, and the gradient of the hidden states. */
  readonly loss: number;
  /** Its gradients. */
  readonly backward: number;
}

/** How much a batch holds, as far as its work depends on it. */
export interface BatchExtent {
  /** T, tokens of the packed batch. */
  readonly tokens: number;
  /** R, supervised slots. */
  readonly supervised: number;
  /** Whether the loss needs the target's logits in these slots. */
  readonly teacher: boolean;
  /** The keys that each slot sees. */
  readonly ranges: LayerRanges;
}

/**
 * Counts the matrix products of a step, attention over the keys that are seen. The backward pass has two for each of the
 * forward, less the one that would be the features' gradient.
 */
export function drafterFlops(
  config: DrafterConfig,
  { tokens, supervised, teacher, ranges }: BatchExtent,
): DrafterFlops {
  const { hiddenSize, intermediateSize, headDim, heads, kvHeads, targetLayerIds } = config;
  const slots = ranges.full_attention.queryLength;
  const [queryWidth, keyWidth] = [heads * headDim, kvHeads * headDim];
  const features = 2 * tokens * hiddenSize * targetLayerIds.length * hiddenSize;
  const context = 2 * tokens * hiddenSize * 2 * keyWidth;
  const perSlot = hiddenSize * (2 * queryWidth + 2 * keyWidth + 3 * intermediateSize);
  const seen = {
    full_attention: seenKeys(ranges.full_attention),
    sliding_attention: seenKeys(ranges.sliding_attention),
  };
  const forward = config.layerTypes.reduce(
    (sum, type) => sum + context + 2 * slots * perSlot + 4 * queryWidth * seen[type],
    features,
  );
  const headProducts = teacher ? 3 : 2;
  return {
    forward,
    loss: 2 * headProducts * supervised * hiddenSize * config.vocabSize,
    backward: 2 * forward - features,
  };
}

/** Pairs of a query and a key that it sees. */
function seenKeys({ bounds }: RowRanges): number {
  let pairs = 0;
  for (let i = 0; i < bounds.length; i += 2) pairs += bounds[i + 1]! - bounds[i]!;
  return pairs;
}
