import { describe, expect, it } from "vitest";
import { blockMaskSvg } from "./drawBlockMask.ts";
import { and, not } from "./combine.ts";
import { createBlockMask } from "./createBlockMask.ts";
import { causal, prefix, slidingWindow } from "./knownPredicates.ts";

describe("BlockMask", () => {
  const mask = createBlockMask(causal, { qLen: 10, kvLen: 8, tile: 4 });

  it("answers for elements and broadcasts over batch and heads", () => {
    expect([mask.visible(3, 3), mask.visible(3, 4), mask.visible(9, 0, 17, 5)]).toEqual([true, false, true]);
    const byHead = createBlockMask((q, k, _, head) => q >= k + head, { qLen: 4, kvLen: 4, heads: 2 });
    expect([byHead.visible(2, 2, 3, 0), byHead.visible(2, 2, 3, 1)]).toEqual([true, false]);
  });

  it.each<[string, () => unknown, string]>([
    ["a query past the end", () => mask.visible(10, 0), "query must be an integer from 0 to 9, got 10"],
    ["a negative key", () => mask.visible(0, -1), "key must be an integer from 0 to 7, got -1"],
    [
      "a head that is not there",
      () => createBlockMask(causal, { qLen: 4, kvLen: 4, heads: 2 }).tileKinds(0, 2),
      "head must be an integer from 0 to 1, got 2",
    ],
  ])("refuses %s", (_, ask, message) => {
    expect(ask).toThrow(new RangeError(message));
  });

  it("prints a character a tile, and never calls a tile full that reaches past the end", () => {
    expect(String(mask)).toBe(["BlockMask 1 × 1 × 10 × 8, tile 4 × 4, sparsity 0.00 %", "░·", "█░", "░░"].join("\n"));
    const batched = createBlockMask((q, k, batch) => q >= k + 4 * batch, { qLen: 8, kvLen: 8, batch: 2, tile: 4 });
    expect(String(batched).split("\n").slice(1)).toEqual([
      "batch 0, head 0",
      "░·",
      "█░",
      "batch 1, head 0",
      "··",
      "░·",
    ]);
  });

  it("counts sparsity as FlexAttention does, in whole tiles", () => {
    expect(createBlockMask(causal, { qLen: 8, kvLen: 8, tile: 4 }).sparsity()).toBe(25);
    expect(createBlockMask(causal, { qLen: 5, kvLen: 5, tile: 4 }).sparsity()).toBeCloseTo(100 * (1 - 48 / 25), 9);
  });

  it("transposes", () => {
    const transposed = mask.transpose();
    const upper = createBlockMask((q, k) => k >= q, { qLen: 8, kvLen: 10, tile: 4 });
    expect(transposed.equals(upper)).toBe(true);
    expect(transposed.transpose().equals(mask)).toBe(true);
    expect(transposed.equals(mask)).toBe(false);
  });

  it("is equal to a mask of the same elements only", () => {
    const shape = { qLen: 12, kvLen: 12, tile: 4 };
    const windowed = createBlockMask(and(causal, slidingWindow(5)), shape);
    const plain = createBlockMask((q, k) => k <= q && k > q - 5, shape);
    const sameTiles = createBlockMask((q, k) => k <= q && k > q - 5 && (q !== 4 || k !== 4), shape);
    const otherTiles = createBlockMask(and(causal, slidingWindow(6)), shape);
    expect(sameTiles.tileKinds()).toEqual(windowed.tileKinds());
    expect([plain, sameTiles, otherTiles, windowed.transpose()].map((m) => m.equals(windowed))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(createBlockMask(causal, { ...shape, tile: 6 }).equals(createBlockMask(causal, shape))).toBe(false);
  });

  it("draws each run of equal tiles as one bar", () => {
    const svg = blockMaskSvg(createBlockMask(and(not(prefix(4)), not(prefix(2))), { qLen: 8, kvLen: 12, tile: 4 }));
    expect(svg).toContain('width="640" height="427" viewBox="0 0 3 2"');
    expect(svg).toContain("<title>8 queries × 12 keys, tile 4 × 4</title>");
    expect(svg).toContain('d="M0 0h1v1h-1zM0 1h1v1h-1z"');
    expect(svg).toContain('d="M1 0h2v1h-2zM1 1h2v1h-2z"');
  });
});
