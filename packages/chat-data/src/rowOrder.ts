/** Finaliser of MurmurHash3 (Austin Appleby, public domain): every input bit changes about half of the output bits. */
function mix(word: number): number {
  let h = word | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85eb_ca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A uniform integer 0 ≤ n < bound that depends on nothing but its counters. */
export function uniformInteger(bound: number, ...counters: readonly number[]): number {
  // The golden-ratio step keeps a run of zero counters from staying zero.
  const word = counters.reduce((hash, counter) => mix(hash ^ mix((counter + 0x9e37_79b9) | 0)), 0x243f_6a88);
  return Math.floor((word / 2 ** 32) * bound);
}

/** The order of a file's rows in one epoch: a shuffle (Fisher-Yates) that depends on nothing but its arguments. */
export function rowOrder(rows: number, seed: number, epoch: number): Uint32Array {
  const order = Uint32Array.from({ length: rows }, (_, row) => row);
  for (let i = rows - 1; i > 0; i--) {
    const j = uniformInteger(i + 1, seed, epoch, i);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
