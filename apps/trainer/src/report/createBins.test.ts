import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createBins } from "./createBins.ts";

test("bins are few, cover all steps in order, and hold the means of their steps' values", () => {
  const value = fc.option(fc.double({ min: -1e3, max: 1e3, noNaN: true }), { nil: null });
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 200 }), fc.integer({ min: 1, max: 9 }), (values, least) => {
      const bins = createBins(least);
      for (const [i, each] of values.entries()) {
        bins.begin(i + 1);
        bins.put("a b", each);
      }
      const { from, to } = bins.bounds();
      expect(from.length).toBeLessThanOrEqual(2 * least);
      expect(from).toEqual([1, ...to.slice(0, -1).map((step) => step + 1)]);
      expect(to.at(-1)).toBe(values.length);
      const { b: series } = bins.series("a ");
      const means = from.map((first, bin) => {
        const known = values.slice(first - 1, to[bin]).filter((each) => each !== null);
        return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0) / known.length;
      });
      const got = series ?? from.map(() => null);
      expect(got.map((each) => each === null)).toEqual(means.map((each) => each === null));
      for (const [bin, mean] of means.entries())
        expect(Math.abs((got[bin] ?? 0) - (mean ?? 0))).toBeLessThanOrEqual(1e-4 * Math.abs(mean ?? 0) + 1e-12);
    }),
  );
});
