import { expect, test } from "vitest";
import { randomWeights } from "./randomWeights.ts";

const draw = async (seed: number, name: string, shape: number[], deviation = 0.02): Promise<Float32Array> =>
  randomWeights(seed, deviation)(name, shape);

test("matrices have the mean, deviation and tails of a normal distribution", async () => {
  const values = await draw(1, "a", [200, 500]);
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / n;
  // Five standard errors: σ/√n of the mean, σ²·√(2/n) of the variance.
  expect(Math.abs(mean)).toBeLessThan((5 * 0.02) / Math.sqrt(n));
  expect(Math.abs(variance / 0.02 ** 2 - 1)).toBeLessThan(5 * Math.sqrt(2 / n));
  // 31.73 % lie beyond one deviation, 4.55 % beyond two, 0.27 % beyond three; five standard errors of each share.
  for (const [deviations, share] of [
    [1, 0.3173],
    [2, 0.0455],
    [3, 0.0027],
  ] as const) {
    const beyond = values.filter((value) => Math.abs(value) > deviations * 0.02).length / n;
    expect(Math.abs(beyond - share)).toBeLessThan(5 * Math.sqrt((share * (1 - share)) / n));
  }
});

test("norms start at 1", async () => {
  expect(await draw(1, "norm.weight", [4])).toEqual(Float32Array.of(1, 1, 1, 1));
});

test("values depend on seed and name, and on nothing else", async () => {
  const values = await draw(3, "fc.weight", [3, 5]);
  expect(await draw(3, "fc.weight", [3, 5])).toEqual(values);
  expect(await draw(4, "fc.weight", [3, 5])).not.toEqual(values);
  expect(await draw(3, "fd.weight", [3, 5])).not.toEqual(values);
});

test("neighbours are not correlated, within a pair or across", async () => {
  const values = await draw(1, "a", [200, 500], 1);
  for (const lag of [1, 2, 3]) {
    const products = values.subarray(lag).map((value, i) => value * values[i]!);
    expect(Math.abs(products.reduce((sum, value) => sum + value, 0) / products.length)).toBeLessThan(
      5 / Math.sqrt(products.length),
    );
  }
});
