import { causalRowRanges, denseFromRowRanges, dflashRowRanges, type RowRanges } from "@dflash/block-mask";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type AttentionPlan, planAttention } from "./attentionBatches.ts";

const ranges: fc.Arbitrary<RowRanges> = fc
  .array(fc.tuple(fc.nat(50), fc.nat(50), fc.nat(50), fc.nat(50), fc.boolean()), { maxLength: 90 })
  .map((rows) => ({
    queryLength: rows.length,
    keyLength: 50,
    // Some rows see nothing.
    bounds: Int32Array.from(
      rows.flatMap(([a, b, c, d, none]) => (none ? [0, 0, 0, 0] : [a, b, c, d].toSorted((x, y) => x - y))),
    ),
  }));

/** The mask that a plan stands for, 1 where a query sees a key, read as its results are: by the row of each query. */
function maskOf({ batches, rowOf }: AttentionPlan, { queryLength, keyLength }: RowRanges): Uint8Array {
  const seen: { query: number; keys: number[] }[] = batches.flatMap(({ runs, rows, keys, queryOf, keyOf, mask }) =>
    Array.from({ length: runs * rows }, (_, at) => {
      const run = Math.floor(at / rows);
      const places = [...Array(keys).keys()].filter((place) => mask === null || mask[at * keys + place] === 0);
      const own = places.map((place) => (keyOf === null ? run * keys + place : keyOf[run * keys + place]!));
      return { query: queryOf === null ? at : queryOf[at]!, keys: own };
    }),
  );
  const dense = new Uint8Array(queryLength * keyLength);
  for (let query = 0; query < queryLength; query++) {
    const row = seen[rowOf === null ? query : rowOf[query]!];
    if (row === undefined) continue;
    expect(row.query).toBe(query);
    expect(new Set(row.keys).size).toBe(row.keys.length);
    for (const key of row.keys) dense[query * keyLength + key] = 1;
  }
  return dense;
}

test("a plan shows each query exactly the keys that it sees, and rows that stand for no query are beyond them all", () =>
  fc.assert(
    fc.property(ranges, fc.nat(3000), fc.nat(9000), fc.integer({ min: 1, max: 9000 }), (mask, run, batch, most) => {
      const plan = planAttention(mask, { run, batch, most });
      expect(maskOf(plan, mask)).toEqual(denseFromRowRanges(mask));
      const taken = plan.batches.flatMap(({ queryOf }) => [...(queryOf ?? [])]).filter((row) => row < mask.queryLength);
      expect(new Set(taken).size).toBe(taken.length);
      for (const { runs, rows, keys } of plan.batches) expect(runs === 1 || runs * rows * keys <= most).toBe(true);
    }),
  ));

test("blocks of one size are one batch, whatever lies between their runs' sizes costs less than another", () => {
  const anchors = Int32Array.of(10, 20, 30, 40);
  const blocks = dflashRowRanges({ anchors, blockSize: 16, contextLength: 40 });
  const sizes = (batch: number): number[][] =>
    planAttention(blocks, { run: 0, batch, most: 1e9 }).batches.map(({ runs, rows, keys }) => [runs, rows, keys]);
  expect(sizes(1e9)).toEqual([[4, 16, 56]]);
  expect(sizes(0)).toEqual([56, 46, 36, 26].map((keys) => [1, 16, keys]));
});

test("what is in order is not taken apart", () => {
  const one = causalRowRanges({ rowStarts: Int32Array.of(0, 30) });
  const { batches, rowOf } = planAttention(one, { run: 1e9, batch: 0, most: 1e9 });
  expect(rowOf).toBe(null);
  expect(batches).toMatchObject([{ runs: 1, rows: 30, keys: 30, queryOf: null, keyOf: null }]);
});
