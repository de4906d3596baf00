import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BlockMask } from "./blockMask.ts";
import { createBlockMask, dflashBlockMask, type CreateBlockMaskOptions } from "./createBlockMask.ts";
import type { DflashOptions } from "./dflashRowRanges.ts";
import { causal } from "./knownPredicates.ts";
import type { MaskPredicate } from "./maskPredicate.ts";
import {
  anyDflash,
  denseByDefinition,
  dflashByDefinition,
  tileKindsByCounting,
  validLists,
} from "./oracle.test-support.ts";

const anyTile = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 })),
);

const shifted: MaskPredicate = (q, k, batch, head) => q - k >= 2 * batch - head;

describe("dflashBlockMask", () => {
  it("equals the mask of the plain predicate, and the dense oracle, tile by tile and element by element", () => {
    fc.assert(
      fc.property(anyDflash, anyTile, (options, tile) => {
        const fast = dflashBlockMask({ ...options, tile });
        const { qLen, kvLen, rows, columns } = fast;
        const general = createBlockMask(dflashByDefinition(options), { qLen, kvLen, tile });
        expect(validLists(fast, rows, columns)).toEqual(validLists(general, rows, columns));
        const dense = denseByDefinition(dflashByDefinition(options), [1, 1, qLen, kvLen]);
        expect(Array.from(fast.tileKinds())).toEqual(tileKindsByCounting(dense, qLen, kvLen, ...fast.tile));
        expect(fast.toDense()).toEqual(dense);
        expect(fast.equals(general)).toBe(true);
      }),
    );
  });

  it("leaves out the tiles that a sliding window and unused blocks rule out", () => {
    const mask = dflashBlockMask({
      anchors: Int32Array.of(4, 12, 16),
      keep: Uint8Array.of(1, 0, 1),
      blockSize: 4,
      contextLength: 16,
      slidingWindow: 4,
      causalInBlock: false,
      tile: 4,
    });
    expect(String(mask)).toBe(
      ["BlockMask 1 × 1 × 12 × 28, tile 4 × 4, sparsity 80.95 %", "░···█··", "·······", "···░··█"].join("\n"),
    );
  });
});

describe("createBlockMask", () => {
  it("lists under each column what it lists under each row", () => {
    fc.assert(
      fc.property(anyDflash, anyTile, (options, tile) => {
        const mask = dflashBlockMask({ ...options, tile });
        const { kv, q, fullKv, fullQ } = validLists(mask, mask.rows, mask.columns);
        const byColumn = (lists: number[][]): number[][] =>
          Array.from({ length: mask.columns }, (_, column) =>
            [...lists.keys()].filter((row) => lists[row]!.includes(column)),
          );
        expect(q).toEqual(byColumn(kv!));
        expect(fullQ).toEqual(byColumn(fullKv!));
      }),
    );
  });

  it("tells batch elements and heads apart", () => {
    const mask = createBlockMask(shifted, { qLen: 10, kvLen: 7, batch: 2, heads: 3, tile: [3, 2] });
    expect(mask.toDense()).toEqual(denseByDefinition(shifted, [2, 3, 10, 7]));
    expect(mask.kvNumBlocks).toHaveLength(2 * 3 * 4);
    expect(mask.qIndices).toHaveLength(2 * 3 * 4 * 4);
  });

  it("starts and stops the stopwatch around the build, and stops it when the build throws", () => {
    const calls: string[] = [];
    const timer = { start: () => void calls.push("start"), stop: () => void calls.push("stop") };
    createBlockMask(causal, { qLen: 4, kvLen: 4, timer });
    dflashBlockMask({ anchors: Int32Array.of(1), blockSize: 2, contextLength: 4, timer });
    expect(() => dflashBlockMask({ anchors: Int32Array.of(9), blockSize: 2, contextLength: 4, timer })).toThrow(
      "anchors[0]",
    );
    expect(calls).toEqual(["start", "stop", "start", "stop", "start", "stop"]);
  });

  it("makes an empty mask of no queries", () => {
    const mask: BlockMask = createBlockMask(causal, { qLen: 0, kvLen: 5 });
    expect([mask.rows, mask.columns, mask.toDense().length]).toEqual([0, 1, 0]);
  });

  it.each<[Partial<CreateBlockMaskOptions>, string]>([
    [
      { qLen: 2 ** 20, kvLen: 2 ** 20, tile: 1 },
      "batch · heads · rows · columns of tiles must be an integer from 0 to 2147483647, got 1099511627776",
    ],
    [{ tile: 2.5 }, "tile must be an integer from 1 to 2147483647, got 2.5"],
    [{ tile: [16, 0] }, "tile must be an integer from 1 to 2147483647, got 0"],
    [{ qLen: -1 }, "qLen must be an integer from 0 to 2147483647, got -1"],
    [{ kvLen: Number.NaN }, "kvLen must be an integer from 0 to 2147483647, got NaN"],
    [{ batch: 0 }, "batch must be an integer from 1 to 2147483647, got 0"],
    [{ heads: 1.5 }, "heads must be an integer from 1 to 2147483647, got 1.5"],
  ])("refuses %o", (wrong, message) => {
    expect(() => createBlockMask(causal, { qLen: 8, kvLen: 8, ...wrong })).toThrow(new RangeError(message));
  });

  it("names the length that does not fit a DFlash mask", () => {
    const options: DflashOptions = { anchors: Int32Array.of(1), blockSize: 2, contextLength: 4 };
    expect(() => dflashBlockMask({ ...options, tile: -1 })).toThrow(
      new RangeError("tile must be an integer from 1 to 2147483647, got -1"),
    );
  });
});
