import { array, assert, double, property } from "fast-check";
import { describe as suite, expect, it } from "vitest";
import { addTimes, createHistogram, describe, recordTime } from "./histogram.ts";

/** Times from 1 µs to an hour, as many short as long ones, in ns. */
const times = array(
  double({ min: 3, max: Math.log10(3.6e12), noNaN: true }).map((exponent) => Math.min(10 ** exponent, 3.6e12)),
  { minLength: 1, maxLength: 300 },
);

suite("histogram", () => {
  it("knows percentiles within 3.2 %, the maximum and the sum exactly", () => {
    assert(
      property(times, (values) => {
        const histogram = createHistogram();
        for (const value of values) recordTime(histogram, Float64Array.of(value), 0);
        const sorted = values.toSorted((a, b) => a - b);
        const { n, missing, sumMs, p50Ms, p90Ms, p99Ms, maxMs } = describe(histogram, values.length + 2);
        expect([n, missing, maxMs]).toEqual([values.length, 2, sorted.at(-1)! / 1e6]);
        expect(sumMs).toBeCloseTo(values.reduce((a, b) => a + b, 0) / 1e6, 6);
        for (const [quantile, ms] of [
          [0.5, p50Ms],
          [0.9, p90Ms],
          [0.99, p99Ms],
        ] as const) {
          const exact = sorted[Math.ceil(quantile * values.length) - 1]! / 1e6;
          expect(Math.abs(ms! - exact) / exact).toBeLessThanOrEqual(0.032);
        }
      }),
    );
  });

  it("takes times outside its range at their ends", () => {
    const histogram = createHistogram();
    for (const ns of [0, 1, 999]) recordTime(histogram, Float64Array.of(ns), 0);
    expect(describe(histogram, 3)).toMatchObject({ n: 3, p50Ms: 0.000999, maxMs: 0.000999 });
    recordTime(histogram, Float64Array.of(1e18), 0);
    expect(describe(histogram, 4)).toMatchObject({ n: 4, maxMs: 1e12 });
  });

  it("is null where nothing was counted", () => {
    expect(describe(createHistogram(), 5)).toEqual({
      n: 0,
      missing: 5,
      sumMs: 0,
      p50Ms: null,
      p90Ms: null,
      p99Ms: null,
      maxMs: null,
    });
  });

  it("adds up", () => {
    const [a, b, all] = [createHistogram(), createHistogram(), createHistogram()];
    for (const [i, ns] of [5e3, 7e6, 2e9, 4e4].entries()) {
      recordTime(i % 2 === 0 ? a : b, Float64Array.of(ns), 0);
      recordTime(all, Float64Array.of(ns), 0);
    }
    expect(addTimes(a, b)).toEqual(all);
  });
});
