import { expect, test } from "vitest";
import { createTokenSampler } from "./tokenSampler.ts";

/** Counts of the tokens that a sampler draws at so many positions. */
function draws(temperature: number, logits: Float32Array, count: number): number[] {
  const sample = createTokenSampler(temperature, 7);
  const counts = Array.from(logits, () => 0);
  for (let position = 0; position < count; position++) counts[sample(logits, 3, position)]!++;
  return counts;
}

test.each([0.5, 1, 2])("at temperature %f draws tokens as often as softmax says", (temperature) => {
  const logits = Float32Array.of(2, -1, 0.5, 0, -Infinity, 1);
  const count = 20_000;
  const weights = Array.from(logits, (logit) => Math.exp(logit / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const counts = draws(temperature, logits, count);
  expect(counts[4]).toBe(0);
  const expected = weights.map((weight) => (count * weight) / total);
  const chiSquare = counts.reduce(
    (sum, found, token) => sum + (expected[token] ? (found - expected[token]) ** 2 / expected[token] : 0),
    0,
  );
  // Of five tokens: exceeded by chance once in 1,000 seeds.
  expect(chiSquare).toBeLessThan(18.5);
});

test("a low temperature draws the likeliest token, however large the logits are", () => {
  expect(draws(1e-4, Float32Array.of(-800, 900, 899, -Infinity), 100)).toEqual([0, 100, 0, 0]);
});

test("draws depend on the seed, the prompt and the position, and on nothing else", () => {
  const logits = new Float32Array(1000);
  const list = (seed: number, prompt: number) => {
    const sample = createTokenSampler(1, seed);
    return Array.from({ length: 8 }, (_, position) => sample(logits, prompt, position));
  };
  const backwards = createTokenSampler(1, 1);
  expect(Array.from({ length: 8 }, (_, i) => backwards(logits, 0, 7 - i)).toReversed()).toEqual(list(1, 0));
  expect(list(1, 1)).not.toEqual(list(1, 0));
  expect(list(2, 0)).not.toEqual(list(1, 0));
  expect(new Set(list(1, 0)).size).toBeGreaterThan(4);
});
