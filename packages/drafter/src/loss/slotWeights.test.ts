import { expect, test } from "vitest";
import { defaultGamma, slotWeights } from "./slotWeights.ts";

/** Computed apart from this code, to four places. */
const gamma7 = [
  1, 0.8669, 0.7515, 0.6514, 0.5647, 0.4895, 0.4244, 0.3679, 0.3189, 0.2765, 0.2397, 0.2077, 0.1801, 0.1561, 0.1353,
];

test("the weights of block size 16 and γ 7, and no weight for the anchor", () => {
  const [anchor, ...weights] = slotWeights(16, 7);
  expect(anchor).toBe(0);
  expect(weights.map((weight) => Number(weight.toFixed(4)))).toEqual(gamma7);
});

test.each([
  [16, 7, 6.6306],
  [10, 5, 4.6048],
  [8, 4, 3.7352],
])("block size %i has γ %i by default; its weights sum to %f", (blockSize, gamma, sum) => {
  expect(defaultGamma(blockSize)).toBe(gamma);
  expect(slotWeights(blockSize, gamma).reduce((total, weight) => total + weight, 0)).toBeCloseTo(sum, 4);
});

test("no γ, equal weights", () => {
  expect([...slotWeights(4, null)]).toEqual([0, 1, 1, 1]);
});

test("refuses a γ that makes no decay", () => {
  expect(() => slotWeights(4, 0)).toThrow("gamma is 0, expected a number above 0, or null for none");
  expect(() => slotWeights(4, Number.NaN)).toThrow("gamma is NaN");
});
