import * as fc from "fast-check";
import { expect, test } from "vitest";
import { firstNonFinite } from "./firstNonFinite.ts";

test("the first value that Number.isFinite refuses is found, wherever the array begins in its buffer", () => {
  const value = fc.oneof(fc.float(), fc.constantFrom(NaN, -NaN, Infinity, -Infinity, 3.4028234663852886e38, 1e-45, -0));
  fc.assert(
    fc.property(fc.array(value), fc.nat(3), (values, offset) => {
      const array = Float32Array.from([...Array<number>(offset).fill(NaN), ...values]).subarray(offset);
      expect(firstNonFinite(array)).toBe(array.findIndex((found) => !Number.isFinite(found)));
    }),
  );
});
