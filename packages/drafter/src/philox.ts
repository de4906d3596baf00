/** Keeps draws for different purposes independent of each other: the second word of the key. */
export const randomStream = { anchors: 1, weights: 2, sampling: 3 } as const;

/**
 * Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): four random 32-bit words that
 * depend on nothing but the counter and the key, so that any draw can be repeated without those before it.
 *
 * @param counter Four words that number the draw.
 * @param key The seed and the stream.
 * @param out Receives the four words; may be `counter` itself.
 */
export function philox(counter: ArrayLike<number>, key: readonly [number, number], out: Uint32Array): void {
  let c0 = counter[0]!;
  let c1 = counter[1]!;
  let c2 = counter[2]!;
  let c3 = counter[3]!;
  let [k0, k1] = key;
  for (let round = 0; round < 10; round++) {
    const high0 = multiplyHigh(c0, 0xd2511f53);
    const high2 = multiplyHigh(c2, 0xcd9e8d57);
    const low0 = Math.imul(c0, 0xd2511f53);
    const low2 = Math.imul(c2, 0xcd9e8d57);
    c0 = high2 ^ c1 ^ k0;
    c1 = low2;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 = (k0 + 0x9e3779b9) | 0;
    k1 = (k1 + 0xbb67ae85) | 0;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

/** @throws {RangeError} Unless `seed` is a word. */
export function checkSeed(seed: number): void {
  if (seed === seed >>> 0) return;
  throw new RangeError(`seed is ${seed}, expected an integer from 0 to ${2 ** 32 - 1}`);
}

/** The number in (0, 1) that a random word stands for; never 0, so that its logarithm exists. */
export function uniform(word: number): number {
  return (word + 0.5) / 2 ** 32;
}

/** The upper half of the 64-bit product of two words. */
function multiplyHigh(a: number, b: number): number {
  const aHigh = a >>> 16;
  const aLow = a & 0xffff;
  const bHigh = b >>> 16;
  const bLow = b & 0xffff;
  // Each sum stays below 2^33, exact in a double.
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carry = aLow * bHigh + (middle % 65536);
  return aHigh * bHigh + Math.floor(middle / 65536) + Math.floor(carry / 65536);
}
