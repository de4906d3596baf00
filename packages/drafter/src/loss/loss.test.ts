import { expect, test } from "vitest";
import { lossWeighting } from "./loss.ts";

/** The three slots in range of a block of 16. */
const targets = {
  rows: Int32Array.of(1, 2, 3),
  tokens: Int32Array.of(7, 8, 9),
  labels: new Int32Array(3),
  rowCount: 1,
};

test("decay weighs by slot, over the weights of what is supervised", () => {
  for (const type of ["decay", "soft-target"] as const) {
    const weighting = lossWeighting({ type, gamma: 7 }, 16);
    const weights = weighting.weights(targets, []);
    expect(weighting.adaptive).toBe(false);
    expect(Array.from(weights, (weight) => Number(weight.toFixed(4)))).toEqual([1, 0.8669, 0.7515]);
    expect(weighting.divisor(targets, weights)).toBeCloseTo(2.6184, 4);
  }
  expect(lossWeighting({ type: "decay" }, 16).weights(targets, [])[1]).toBeCloseTo(0.8669, 4);
  expect([...lossWeighting({ type: "decay", gamma: null }, 16).weights(targets, [])]).toEqual([1, 1, 1]);
});

test("D-PACE weighs by the losses, over the rows", () => {
  const weighting = lossWeighting({ type: "d-pace" }, 16);
  const weights = weighting.weights(targets, [Math.log(2), Math.log(4), Math.log(1.25)]);
  expect(weighting.adaptive).toBe(true);
  expect([...weights]).toEqual([1.640625, 0.890625, 0.421875]);
  expect(weighting.divisor({ ...targets, rowCount: 5 }, weights)).toBe(5);
});

test("refuses γ and α out of range", () => {
  expect(() => lossWeighting({ type: "decay", gamma: 0 }, 4)).toThrow("gamma is 0, expected a number above 0");
  expect(() => lossWeighting({ type: "d-pace", alpha: 1.1 }, 4)).toThrow("alpha is 1.1, expected a number from 0 to 1");
});
