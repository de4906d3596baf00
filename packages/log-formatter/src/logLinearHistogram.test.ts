import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createLogLinearHistogram } from "./logLinearHistogram.ts";

/** From a nanosecond to a day, evenly over the orders of magnitude. */
const duration = fc.double({ min: -6, max: 8, noNaN: true }).map((exponent) => Math.round(10 ** exponent * 1e6) / 1e6);
const durations = fc.array(duration, { minLength: 1, maxLength: 200 });

test.each([
  [5, 0.032],
  [9, 0.002],
])("percentiles of %i bits are within %f of the nearest-rank ones", (bits, tolerance) => {
  fc.assert(
    fc.property(durations, fc.double({ min: 0, max: 1, noNaN: true }), (values, share) => {
      const histogram = createLogLinearHistogram(bits);
      for (const value of values) histogram.add(value);
      const exact = values.toSorted((a, b) => a - b)[Math.max(1, Math.ceil(share * values.length)) - 1]!;
      expect(Math.abs(histogram.percentile(share)! - exact)).toBeLessThanOrEqual(exact * tolerance);
    }),
    { numRuns: 500 },
  );
});

test("count, sum and largest are exact, and no percentile passes the largest", () => {
  fc.assert(
    fc.property(durations, (values) => {
      const histogram = createLogLinearHistogram();
      for (const value of values) histogram.add(value);
      expect(histogram.count).toBe(values.length);
      expect(histogram.sum).toBe(values.reduce((sum, value) => sum + value, 0));
      expect(histogram.max).toBe(Math.max(...values));
      expect(histogram.percentile(1)).toBeLessThanOrEqual(histogram.max!);
      expect(histogram.percentile(0)).toBeGreaterThanOrEqual(Math.min(...values));
    }),
  );
});

test("the largest duration has a bucket, and an empty histogram no percentile", () => {
  const histogram = createLogLinearHistogram();
  expect(histogram.percentile(0.5)).toBeNull();
  histogram.add(Number.MAX_SAFE_INTEGER / 1e6);
  histogram.add(1e300);
  expect(histogram.percentile(0.5)).toBeCloseTo(Number.MAX_SAFE_INTEGER / 1e6, -9);
  expect(histogram.count).toBe(2);
});
