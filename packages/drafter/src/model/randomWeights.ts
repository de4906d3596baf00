import { checkSeed, philox, randomStream, uniform } from "../philox.ts";

/** Gives the values of a parameter by its name, row-major. */
export type WeightSource = (name: string, shape: readonly number[]) => Float32Array | Promise<Float32Array>;

/**
 * Weights of an untrained drafter: matrices normal with mean 0 and the given standard deviation, norms 1. A parameter's
 * values depend on the seed and its name only.
 *
 * @param seed From 0 to 2^32 − 1, or a RangeError is thrown.
 */
export function randomWeights(seed: number, standardDeviation: number): WeightSource {
  checkSeed(seed);
  return (name, shape) => {
    const values = new Float32Array(shape.reduce((product, extent) => product * extent, 1));
    if (shape.length === 1) return values.fill(1);
    const words = new Uint32Array(4);
    const stream = hash(name);
    for (let i = 0; i < values.length; i += 2) {
      philox([i, Math.floor(i / 2 ** 32), stream, 0], [seed, randomStream.weights], words);
      // Box-Muller: two uniform numbers to two normal ones.
      const radius = standardDeviation * Math.sqrt(-2 * Math.log(uniform(words[0]!)));
      const angle = 2 * Math.PI * uniform(words[1]!);
      values[i] = radius * Math.cos(angle);
      if (i + 1 < values.length) values[i + 1] = radius * Math.sin(angle);
    }
    return values;
  };
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) sum = Math.imul(sum ^ byte, 0x01000193);
  return sum >>> 0;
}
