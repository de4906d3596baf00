import type { TokenBatch } from "@dflash/target-forward";
import type { Blocks } from "./sampleAnchors.ts";

/** The supervised slots of all blocks, R of them, in order. */
export interface BlockTargets {
  /** Row of each in the drafter's output, block · B + slot, [R]. */
  readonly rows: Int32Array;
  /** Token that each has to predict, [R]. */
  readonly labels: Int32Array;
  /** Weight of each in the loss before normalisation, [R]. */
  readonly weights: Float32Array;
  /** Sum of the weights. */
  readonly weightSum: number;
}

/**
 * What the slots of the blocks have to predict: slot k the token at anchor + k. Supervised are the slots from 1 on of
 * kept blocks whose token lies in the row and in its loss mask; a hole in the loss mask cuts nothing behind it.
 */
export function blockTargets(blocks: Blocks, batch: TokenBatch, slotWeights: Float64Array): BlockTargets {
  const blockSize = slotWeights.length;
  const rows: number[] = [];
  const labels: number[] = [];
  const weights: number[] = [];
  for (let block = 0; block < blocks.anchors.length; block++) {
    if (!blocks.keep[block]) continue;
    const anchor = blocks.anchors[block]!;
    const slots = Math.min(blockSize, blocks.rowEnds[block]! - anchor);
    for (let slot = 1; slot < slots; slot++) {
      if (!batch.lossMask[anchor + slot]) continue;
      rows.push(block * blockSize + slot);
      labels.push(batch.ids[anchor + slot]!);
      weights.push(slotWeights[slot]!);
    }
  }
  return {
    rows: Int32Array.from(rows),
    labels: Int32Array.from(labels),
    weights: Float32Array.from(weights),
    weightSum: weights.reduce((sum, weight) => sum + weight, 0),
  };
}
