import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { causalRowRanges, type CausalRowRangesOptions } from "./causalRowRanges.ts";
import { denseFromRowRanges } from "./rowRanges.ts";
import { denseByDefinition } from "./oracle.test-support.ts";

describe("causalRowRanges", () => {
  it("equals the definition for any rows and window", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 5 }),
        fc.option(fc.integer({ min: 1, max: 14 }), { nil: undefined }),
        (lengths, slidingWindow) => {
          const rowOf = lengths.flatMap((length, row) => Array.from({ length }, () => row));
          const rowStarts = Int32Array.from([0, ...lengths.map((_, row) => rowOf.filter((r) => r <= row).length)]);
          const visible = (q: number, k: number): boolean =>
            k <= q && rowOf[k] === rowOf[q] && (slidingWindow === undefined || q - k < slidingWindow);
          const ranges = causalRowRanges({ rowStarts, ...(slidingWindow !== undefined && { slidingWindow }) });
          expect(denseFromRowRanges(ranges)).toEqual(denseByDefinition(visible, [1, 1, rowOf.length, rowOf.length]));
        },
      ),
    );
  });

  it("continues behind a cache as the last rows of the whole sequence's mask", () => {
    for (const slidingWindow of [2, 5, 100]) {
      const whole = denseFromRowRanges(causalRowRanges({ rowStarts: Int32Array.of(0, 10), slidingWindow }));
      const tail = causalRowRanges({ rowStarts: Int32Array.of(0, 3), cachedLength: 7, slidingWindow });
      expect(tail).toMatchObject({ queryLength: 3, keyLength: 10 });
      expect(denseFromRowRanges(tail)).toEqual(whole.slice(7 * 10));
    }
  });

  it.each<[string, Partial<CausalRowRangesOptions>, string]>([
    [
      "no end of the last row",
      { rowStarts: Int32Array.of(0) },
      "rowStarts must hold the start of each row and the end of the last, got 1 values",
    ],
    ["a first row that starts late", { rowStarts: Int32Array.of(1, 4) }, "rowStarts[0] must be 0, got 1"],
    [
      "rows out of order",
      { rowStarts: Int32Array.of(0, 5, 3) },
      "rowStarts[2] must not be below rowStarts[1] = 5, got 3",
    ],
    ["a window of 0", { slidingWindow: 0 }, "slidingWindow must be an integer from 1 to 2147483647, got 0"],
    [
      "a cache for several rows",
      { cachedLength: 2 },
      "cachedLength must be 0 with more than one row, got 2 with 2 rows",
    ],
  ])("refuses %s", (_, wrong, message) => {
    expect(() => causalRowRanges({ rowStarts: Int32Array.of(0, 2, 4), ...wrong })).toThrow(new RangeError(message));
  });
});
