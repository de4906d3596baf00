/**
 * γ of the decay when none is given: min(B / 2, (B + 5) / 3), which goes through the published 4, 5 and 7 for block sizes
 * 8, 10 and 16.
 */
export function defaultGamma(blockSize: number): number {
  return Math.min(blockSize / 2, (blockSize + 5) / 3);
}

/**
 * Weight of each slot in the loss, [B]: 0 for the anchor's, exp(−(k − 1) / γ) for slot k (DFlash, arXiv 2602.06036), so
 * that the first predictions count most: a wrong one voids all behind it.
 *
 * @param gamma null for equal weights.
 * @throws {RangeError} When γ isn't above 0.
 */
export function slotWeights(blockSize: number, gamma: number | null): Float64Array {
  if (gamma !== null && !(gamma > 0))
    throw new RangeError(`gamma is ${gamma}, expected a number above 0, or null for none`);
  return Float64Array.from({ length: blockSize }, (_, slot) => {
    if (slot === 0) return 0;
    return gamma === null ? 1 : Math.exp(-(slot - 1) / gamma);
  });
}
