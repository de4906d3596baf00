import { expect, test } from "vitest";
import { warmupConstant, warmupCosine, warmupLinear, warmupStableDecay } from "./schedule.ts";

test("all rise to the peak in the warm-up", () => {
  for (const schedule of [warmupCosine, warmupLinear, warmupConstant, warmupStableDecay]) {
    const rate = schedule({ peak: 1, steps: 100 });
    expect([0, 1, 2, 3, 4].map(rate)).toEqual([0.25, 0.5, 0.75, 1, 1]);
    expect(schedule({ peak: 8, steps: 200, warmupRatio: 0 })(0)).toBe(8);
  }
});

test("a cosine falls to 0, or to its floor", () => {
  const rate = warmupCosine({ peak: 1, steps: 100, warmupRatio: 0.04 });
  // Halfway down: 48 of 96 updates after the warm-up.
  expect(rate(52)).toBeCloseTo(0.5, 12);
  expect(rate(4 + 32)).toBeCloseTo(0.75, 12);
  expect(rate(99)).toBeGreaterThan(0);
  expect(rate(100)).toBe(0);
  expect(rate(1000)).toBe(0);
  const floored = warmupCosine({ peak: 2, steps: 100, floor: 0.1 });
  expect(floored(52)).toBeCloseTo(1.1, 12);
  expect(floored(100)).toBeCloseTo(0.2, 12);
});

test("a line falls evenly", () => {
  const rate = warmupLinear({ peak: 1, steps: 100, floor: 0.5 });
  expect(rate(52)).toBeCloseTo(0.75, 12);
  expect(rate(28)).toBeCloseTo(0.875, 12);
  expect(rate(100)).toBe(0.5);
});

test("a constant rate stays", () => {
  const rate = warmupConstant({ peak: 3, steps: 10, warmupRatio: 0.2 });
  expect([0, 1, 2, 9, 10, 1000].map(rate)).toEqual([1.5, 3, 3, 3, 3, 3]);
});

test("warm-up, stable, decay: the last fifth leads down", () => {
  const rate = warmupStableDecay({ peak: 1, steps: 100, floor: 0.1 });
  expect(rate(79)).toBe(1);
  expect(rate(80)).toBe(1);
  expect(rate(90)).toBeCloseTo(0.1 + 0.9 / 2, 12);
  expect(rate(100)).toBe(0.1);
  expect(warmupStableDecay({ peak: 1, steps: 100, decayRatio: 0.5 })(75)).toBe(0.5);
});

test("refuses ratios and peaks out of range", () => {
  expect(() => warmupCosine({ peak: 0, steps: 1 })).toThrow("peak is 0, expected a number above 0");
  expect(() => warmupCosine({ peak: 1, steps: 1, floor: 2 })).toThrow("floor is 2, expected a number from 0 to 1");
  expect(() => warmupLinear({ peak: 1, steps: 1, warmupRatio: -1 })).toThrow("warmupRatio is -1, expected a number");
  expect(() => warmupStableDecay({ peak: 1, steps: 1, decayRatio: 3 })).toThrow("decayRatio is 3, expected a number");
});
