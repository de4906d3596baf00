import type { BlockTargets } from "../blocks/blockTargets.ts";
import { defaultAlpha, dPaceWeights } from "./dPaceWeights.ts";
import { defaultGamma, slotWeights } from "./slotWeights.ts";

/**
 * What the drafter learns by, a weighted mean of the supervised slots' losses:
 *
 * - `decay`: cross-entropy against the text, weights falling over the block by γ, over their sum (DFlash);
 * - `d-pace`: cross-entropy against the text, weights by the drafter's own confidence, over the number of rows that have supervised slots (SpecForge);
 * - `soft-target`: KL divergence from the target's distribution at each slot, weights as in `decay`. Needs the target's last
 *   hidden states with every batch.
 */
export type Loss =
  /** γ: null for equal weights, `defaultGamma` unless given. */
  | { readonly type: "decay" | "soft-target"; readonly gamma?: number | null }
  /** α: from 0 to 1, 0.5 unless given. */
  | { readonly type: "d-pace"; readonly alpha?: number };

/** How the slots' losses of a batch become one number. */
export interface LossWeighting {
  /** Whether the weights depend on the losses. */
  readonly adaptive: boolean;
  /** Weight of each supervised slot, [R]; `rowLosses`, nats, [R], are looked at where it is adaptive. */
  weights(targets: BlockTargets, rowLosses: ArrayLike<number>): Float32Array;
  /** What Σ weight·loss of a batch is divided by. */
  divisor(targets: BlockTargets, weights: Float32Array): number;
}

/** @throws {RangeError} When γ or α is out of range. */
export function lossWeighting(loss: Loss, blockSize: number): LossWeighting {
  if (loss.type === "d-pace") {
    const { alpha = defaultAlpha } = loss;
    if (!(alpha >= 0 && alpha <= 1)) throw new RangeError(`alpha is ${alpha}, expected a number from 0 to 1`);
    return {
      adaptive: true,
      weights: (targets, rowLosses) => dPaceWeights(targets, rowLosses, blockSize, alpha),
      divisor: ({ rowCount }) => rowCount,
    };
  }
  const { gamma = defaultGamma(blockSize) } = loss;
  const bySlot = slotWeights(blockSize, gamma);
  return {
    adaptive: false,
    weights: ({ rows }) => Float32Array.from(rows, (row) => bySlot[row % blockSize]!),
    divisor: (_, weights) => weights.reduce((sum, weight) => sum + weight, 0),
  };
}
