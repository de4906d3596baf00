import type { TokenBatch } from "@dflash/target-forward";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { sampleAnchors } from "./sampleAnchors.ts";

/** Rows given by their loss masks, such as "0111". */
function batchOf(rows: readonly string[], index = 0): TokenBatch {
  const lossMask = Uint8Array.from(rows.join(""), Number);
  const rowStarts = new Int32Array(rows.length + 1);
  for (const [row, mask] of rows.entries()) rowStarts[row + 1] = rowStarts[row]! + mask.length;
  return { index, ids: Int32Array.from(lossMask, (_, i) => i), lossMask, rowStarts };
}

const options = { anchorsPerRow: 8, seed: 1 };

test("an anchor and the token after it are supervised, in the same row", () => {
  const { anchors, keep } = sampleAnchors(batchOf(["01101", "11"]), options);
  // Token 4 is supervised and so is token 5, but that one is in the next row.
  expect([...anchors]).toEqual([1, 5]);
  expect([...keep]).toEqual([1, 1]);
});

test("a shorter row is filled up with blocks that are not kept", () => {
  const blocks = sampleAnchors(batchOf(["0110", "00", "1111"]), options);
  expect([...blocks.keep]).toEqual([1, 0, 0, 0, 0, 0, 1, 1, 1]);
  expect([...blocks.rowStarts]).toEqual([0, 0, 0, 4, 4, 4, 6, 6, 6]);
  expect([...blocks.rowEnds]).toEqual([4, 4, 4, 6, 6, 6, 10, 10, 10]);
  expect(blocks.anchors.slice(6)).toEqual(Int32Array.of(6, 7, 8));
});

test("no pair of supervised tokens, no blocks", () => {
  expect(sampleAnchors(batchOf(["0101", "1"]), options).anchors).toHaveLength(0);
});

test("draws without replacement, sorted, at most as many as asked for", () => {
  const rows = fc.array(fc.string({ unit: fc.constantFrom("0", "1"), minLength: 1, maxLength: 30 }), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 10 }), fc.nat(), fc.nat(), (masks, anchorsPerRow, seed, index) => {
      const batch = batchOf(masks, index);
      const blocks = sampleAnchors(batch, { anchorsPerRow, seed });
      const width = blocks.anchors.length / masks.length;
      const counts = masks.map((mask, row) => {
        const kept = [...blocks.anchors].filter((_, block) => blocks.keep[block] && Math.floor(block / width) === row);
        const inRow = kept.map((anchor) => anchor - batch.rowStarts[row]!);
        for (const anchor of inRow) expect(mask.slice(anchor, anchor + 2)).toBe("11");
        expect(inRow).toEqual([...new Set(inRow)].toSorted((a, b) => a - b));
        const pairs = Array.from(mask, (_, token) => mask.startsWith("11", token)).filter(Boolean).length;
        expect(inRow).toHaveLength(Math.min(anchorsPerRow, pairs));
        return inRow.length;
      });
      expect(width).toBe(Math.max(...counts));
    }),
  );
});

test("the draw depends on seed, batch and row, and on nothing before it", () => {
  const row = "1".repeat(60);
  const draw = (index: number, seed: number): string =>
    sampleAnchors(batchOf([row, row], index), { anchorsPerRow: 8, seed }).anchors.join();
  expect(draw(5, 1)).toBe(draw(5, 1));
  expect(draw(5, 1)).not.toBe(draw(6, 1));
  expect(draw(5, 1)).not.toBe(draw(5, 2));
  const { anchors } = sampleAnchors(batchOf([row, row], 5), options);
  expect(anchors.slice(8).map((anchor) => anchor - 60)).not.toEqual(anchors.slice(0, 8));
});

test("every position is drawn equally often", () => {
  const counts = Array.from({ length: 20 }, () => 0);
  const draws = 4000;
  for (let index = 0; index < draws; index++) {
    for (const anchor of sampleAnchors(batchOf(["1".repeat(21)], index), { anchorsPerRow: 5, seed: 7 }).anchors)
      counts[anchor]!++;
  }
  // 5 of 20: mean 1000, standard deviation √(4000 · ¼ · ¾) = 27; five of those.
  for (const count of counts) expect(Math.abs(count - draws / 4)).toBeLessThan(137);
});
