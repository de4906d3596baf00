import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { groupRows, longestRow, windowRows } from "./groupRows.ts";
import { toTokenBatch, type TokenRow } from "./tokenBatch.ts";

/** A row whose tokens are all the same number, so that it can be told from others. */
const rowOf = (length: number, id: number): TokenRow => ({
  ids: new Int32Array(length).fill(id),
  lossMask: new Uint8Array(length).fill(1),
});

const lengths = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 80 });

describe("groupRows", () => {
  it("hands out rows as they come", () => {
    const rows = [rowOf(3, 1), rowOf(1, 2)];
    expect(groupRows(rows, { batchRows: 2 }, [0])).toEqual([{ rows, lengths: [3, 1] }]);
  });

  it("puts every row into one batch, with no more distinct shapes than buckets", () => {
    const buckets = [25, 50, 100];
    fc.assert(
      fc.property(lengths, fc.integer({ min: 1, max: 7 }), (rowLengths, batchRows) => {
        const rows = rowLengths.map(rowOf);
        const groups = groupRows(rows, { batchRows, lengthBuckets: buckets }, [1, 2]);
        expect(new Set(groups.flatMap((group) => group.rows))).toEqual(new Set(rows));
        expect(groups.flatMap((group) => group.rows)).toHaveLength(rows.length);
        for (const group of groups) {
          const longest = Math.max(...group.rows.map(({ ids }) => ids.length));
          const bucket = buckets.find((length) => length >= longest);
          expect(group.lengths).toEqual(group.rows.map(() => bucket));
        }
        // Only one batch may be short of rows.
        expect(groups.filter((group) => group.rows.length < batchRows).length).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("packs every row once into batches of the same length, half of each used at least but for one", () => {
    fc.assert(
      fc.property(lengths, fc.integer({ min: 100, max: 400 }), (rowLengths, batchTokens) => {
        const rows = rowLengths.map(rowOf);
        const groups = groupRows(rows, { batchTokens }, [3]);
        expect(new Set(groups.flatMap((group) => group.rows))).toEqual(new Set(rows));
        expect(groups.flatMap((group) => group.rows)).toHaveLength(rows.length);
        for (const group of groups) {
          expect(group.lengths.reduce((sum, length) => sum + length, 0)).toBe(batchTokens);
          expect(group.lengths.every((length, r) => length >= group.rows[r]!.ids.length)).toBe(true);
        }
        // First-fit never leaves two batches half empty: the later one's rows would have gone into the earlier one.
        const used = groups.map((group) => group.rows.reduce((sum, { ids }) => sum + ids.length, 0));
        expect(used.filter((tokens) => tokens <= batchTokens / 2).length).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("depends on nothing but its arguments, the order of the batches on the counters", () => {
    const rows = Array.from({ length: 60 }, (_, i) => rowOf(1 + ((i * 37) % 100), i));
    const grouped = (...counters: number[]) => groupRows(rows, { batchTokens: 128 }, counters);
    expect(grouped(5, 1)).toEqual(grouped(5, 1));
    expect(grouped(5, 1)).not.toEqual(grouped(5, 2));
    expect(new Set(grouped(5, 1))).toEqual(new Set(grouped(5, 2)));
  });
});

describe("options", () => {
  it.each([
    [{}, "batchRows and batchTokens: expected one of them"],
    [{ batchRows: 1, batchTokens: 1 }, "batchRows and batchTokens: expected one of them"],
    [{ batchRows: 0 }, "batchRows is 0, expected an integer ≥ 1"],
    [{ batchRows: 1.5 }, "batchRows is 1.5, expected an integer ≥ 1"],
    [{ batchTokens: NaN }, "batchTokens is NaN, expected an integer ≥ 1"],
    [{ batchRows: 1, lengthBuckets: [] }, "lengthBuckets is empty"],
    [{ batchRows: 1, lengthBuckets: [8, -1] }, "lengthBuckets[1] is -1, expected an integer ≥ 1"],
  ])("%j are refused", (options, message) => {
    expect(() => windowRows(options)).toThrow(message);
  });

  it("bound the length of a row", () => {
    expect(longestRow({ batchRows: 2 })).toBe(Infinity);
    expect(longestRow({ batchRows: 2, lengthBuckets: [64, 128] })).toBe(128);
    expect(longestRow({ batchTokens: 512 })).toBe(512);
  });
});

describe("toTokenBatch", () => {
  it("puts rows behind one another and fills them up with unsupervised padding", () => {
    expect(toTokenBatch(4, { rows: [rowOf(2, 7), rowOf(1, 8)], lengths: [2, 3] }, 9)).toEqual({
      index: 4,
      ids: new Int32Array([7, 7, 8, 9, 9]),
      lossMask: new Uint8Array([1, 1, 1, 0, 0]),
      rowStarts: new Int32Array([0, 2, 5]),
    });
  });
});
