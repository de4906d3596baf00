import { philox, randomStream, uniform } from "@dflash/drafter";

/** Draws a token from the target's distribution; depends on the seed, the prompt's index and the token's position only. */
export type TokenSampler = (logits: Float32Array, prompt: number, position: number) => number;

/**
 * Samples from softmax(logits / temperature) by one random number a token, so that an answer doesn't depend on how its tokens
 * were grouped into rounds or its prompt into batches.
 */
export function createTokenSampler(temperature: number, seed: number): TokenSampler {
  const words = new Uint32Array(4);
  return (logits, prompt, position) => {
    philox([position, prompt, 0, 0], [seed, randomStream.sampling], words);
    return pick(logits, temperature, uniform(words[0]!));
  };
}

/** The first index up to which the probabilities add up to more than `share`. */
function pick(logits: Float32Array, temperature: number, share: number): number {
  const largest = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
  const weights = Float64Array.from(logits, (logit) => Math.exp((logit - largest) / temperature));
  let left = share * weights.reduce((sum, weight) => sum + weight, 0);
  let token = 0;
  for (const [index, weight] of weights.entries()) {
    if (weight === 0) continue;
    token = index;
    left -= weight;
    if (left < 0) break;
  }
  return token;
}
