import { expect, test } from "vitest";
import { warmupCosine } from "./schedule.ts";

test("rises to the peak in the warm-up and falls to 0", () => {
  const rate = warmupCosine({ peak: 1, steps: 100, warmupRatio: 0.04 });
  expect([0, 1, 2, 3, 4].map(rate)).toEqual([0.25, 0.5, 0.75, 1, 1]);
  // Halfway down: 48 of 96 updates after the warm-up.
  expect(rate(52)).toBeCloseTo(0.5, 12);
  expect(rate(4 + 32)).toBeCloseTo(0.75, 12);
  expect(rate(99)).toBeGreaterThan(0);
  expect(rate(100)).toBe(0);
  expect(rate(1000)).toBe(0);
});

test("the warm-up is 4 % unless given, and may be none", () => {
  expect(warmupCosine({ peak: 8, steps: 200 })(0)).toBe(1);
  expect(warmupCosine({ peak: 8, steps: 200, warmupRatio: 0 })(0)).toBe(8);
});
