import type { TokenBatch } from "@dflash/target-forward";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type AnchorOptions, type Blocks, createAnchorSampler } from "./createAnchorSampler.ts";

/** Rows given by their loss masks, such as "0111". */
function batchOf(rows: readonly string[], index = 0): TokenBatch {
  const lossMask = Uint8Array.from(rows.join(""), Number);
  const rowStarts = new Int32Array(rows.length + 1);
  for (const [row, mask] of rows.entries()) rowStarts[row + 1] = rowStarts[row]! + mask.length;
  return { index, ids: Int32Array.from(lossMask, (_, i) => i), lossMask, rowStarts };
}

const sample = (batch: TokenBatch, options: Partial<AnchorOptions> = {}): Blocks =>
  createAnchorSampler({ blockSize: 4, anchorsPerRow: 8, seed: 1, ...options })(batch);

/** Anchors of each row, as positions in it. */
function anchorsByRow({ anchors, rowStarts }: Blocks, batch: TokenBatch): number[][] {
  return Array.from({ length: batch.rowStarts.length - 1 }, (_, row) =>
    [...anchors].flatMap((anchor, block) =>
      rowStarts[block] === batch.rowStarts[row] ? [anchor - rowStarts[block]!] : [],
    ),
  );
}

test("an anchor and the token after it are supervised, in the same row", () => {
  const { anchors, keep } = sample(batchOf(["01101", "11"]));
  // Token 4 is supervised and so is token 5, but that one is in the next row.
  expect([...anchors]).toEqual([1, 5]);
  expect([...keep]).toEqual([1, 1]);
});

test("a row has as many blocks as it has anchors", () => {
  const blocks = sample(batchOf(["0110", "00", "1111"]));
  expect(blocks).toEqual({
    anchors: Int32Array.of(1, 6, 7, 8),
    keep: Uint8Array.of(1, 1, 1, 1),
    rowStarts: Int32Array.of(0, 6, 6, 6),
    rowEnds: Int32Array.of(4, 10, 10, 10),
  });
});

test("no pair of supervised tokens, no blocks", () => {
  expect(sample(batchOf(["0101", "1"])).anchors).toHaveLength(0);
});

test("by the rule of whole blocks the block ends in its row, and what follows the anchor may be unsupervised", () => {
  const batch = batchOf(["1010111", "111"]);
  expect([...sample(batch, { rule: "whole-block" }).anchors]).toEqual([0, 2]);
  expect([...sample(batch, { rule: "whole-block", blockSize: 3 }).anchors]).toEqual([0, 2, 4, 7]);
});

const rowMasks = fc.array(fc.string({ unit: fc.constantFrom("0", "1"), minLength: 1, maxLength: 30 }), {
  minLength: 1,
  maxLength: 6,
});
const pairsOf = (mask: string): number =>
  Array.from(mask, (_, token) => mask.startsWith("11", token)).filter(Boolean).length;

test("draws without replacement, sorted, at most as many as asked for", () => {
  fc.assert(
    fc.property(rowMasks, fc.integer({ min: 1, max: 10 }), fc.nat(), fc.nat(), (masks, anchorsPerRow, seed, index) => {
      const batch = batchOf(masks, index);
      for (const [row, anchors] of anchorsByRow(sample(batch, { anchorsPerRow, seed }), batch).entries()) {
        const mask = masks[row]!;
        for (const anchor of anchors) expect(mask.slice(anchor, anchor + 2)).toBe("11");
        expect(anchors).toEqual([...new Set(anchors)].toSorted((a, b) => a - b));
        expect(anchors).toHaveLength(Math.min(anchorsPerRow, pairsOf(mask)));
      }
    }),
  );
});

test("a batch's budget is spent as far as it goes, and no row gets less for another's sake", () => {
  fc.assert(
    fc.property(rowMasks, fc.integer({ min: 1, max: 40 }), fc.nat(), (masks, anchorsPerBatch, seed) => {
      const batch = batchOf(masks);
      const counts = anchorsByRow(sample(batch, { anchorsPerBatch, seed }), batch).map(({ length }) => length);
      const wanted = masks.map((mask) => Math.min(8, pairsOf(mask)));
      const total = wanted.reduce((sum, count) => sum + count, 0);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(Math.min(total, anchorsPerBatch));
      const most = Math.max(...counts);
      // Who got less than he wanted got as much as anybody, but for the one anchor that is left over.
      const short = counts.filter((count, row) => count < wanted[row]!);
      expect(Math.min(...short, most)).toBeGreaterThanOrEqual(most - (short.length > 0 ? 1 : 0));
    }),
  );
});

test("short documents of a packed row keep their share", () => {
  const batch = batchOf(["1".repeat(300), "1111", "1".repeat(300)]);
  const counts = anchorsByRow(sample(batch, { anchorsPerRow: 512, anchorsPerBatch: 31 }), batch).map(
    ({ length }) => length,
  );
  expect(counts).toEqual([14, 3, 14]);
});

test("the draw depends on seed, batch and row, and on nothing before it", () => {
  const row = "1".repeat(60);
  const draw = (index: number, seed: number): string => sample(batchOf([row, row], index), { seed }).anchors.join();
  expect(draw(5, 1)).toBe(draw(5, 1));
  // The same row in a later epoch.
  expect(draw(5, 1)).not.toBe(draw(6, 1));
  expect(draw(5, 1)).not.toBe(draw(5, 2));
  const { anchors } = sample(batchOf([row, row], 5));
  expect(anchors.slice(8).map((anchor) => anchor - 60)).not.toEqual(anchors.slice(0, 8));
});

test("every position is drawn equally often", () => {
  const counts = Array.from({ length: 20 }, () => 0);
  const draws = 4000;
  for (let index = 0; index < draws; index++) {
    for (const anchor of sample(batchOf(["1".repeat(21)], index), { anchorsPerRow: 5, seed: 7 }).anchors)
      counts[anchor]!++;
  }
  // 5 of 20: mean 1000, standard deviation √(4000 · ¼ · ¾) = 27; five of those.
  for (const count of counts) expect(Math.abs(count - draws / 4)).toBeLessThan(137);
});

test("refuses options out of range by name", () => {
  expect(() => sample(batchOf(["11"]), { anchorsPerRow: 0 })).toThrow("anchorsPerRow is 0, expected an integer of");
  expect(() => sample(batchOf(["11"]), { anchorsPerBatch: 1.5 })).toThrow("anchorsPerBatch is 1.5, expected an");
  expect(() => sample(batchOf(["11"]), { seed: -1 })).toThrow("seed is -1, expected an integer from 0 to 4294967295");
});
