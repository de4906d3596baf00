import type { BlockTargets } from "../blocks/blockTargets.ts";

/** α of D-PACE when none is given; stable from 0.3 to 0.7. */
export const defaultAlpha = 0.5;

/**
 * D-PACE's weight of each supervised slot, [R] (arXiv 2605.18810): with the smoothed confidence q̃ = (1 − α)·exp(−CE) + α,
 * 1 in slots without supervision, and its prefix products P, slot j weighs Σ P_m over the supervised slots m ≥ j: how much
 * of the block's expected acceptance hangs on it.
 *
 * @param rowLosses Cross-entropy of each supervised slot, nats, [R].
 * @param alpha From 0 to 1.
 */
export function dPaceWeights(
  targets: BlockTargets,
  rowLosses: ArrayLike<number>,
  blockSize: number,
  alpha: number,
): Float32Array {
  const { rows } = targets;
  const weights = new Float32Array(rows.length);
  for (let start = 0, end = 0; start < rows.length; start = end) {
    const block = Math.floor(rows[start]! / blockSize);
    let prefix = 1;
    for (end = start; end < rows.length && Math.floor(rows[end]! / blockSize) === block; end++) {
      prefix *= (1 - alpha) * Math.exp(-rowLosses[end]!) + alpha;
      weights[end] = prefix;
    }
    for (let i = end - 2; i >= start; i--) weights[i]! += weights[i + 1]!;
  }
  return weights;
}
