import type { TokenBatch } from "@dflash/target-forward";
import { expect, test } from "vitest";
import { blockTargets } from "./blockTargets.ts";
import type { Blocks } from "./createAnchorSampler.ts";

/** One row of ten tokens 100, 101, …, all supervised but `holes`. */
function row(...holes: number[]): TokenBatch {
  return {
    index: 0,
    ids: Int32Array.from({ length: 10 }, (_, i) => 100 + i),
    lossMask: Uint8Array.from({ length: 10 }, (_, i) => (holes.includes(i) ? 0 : 1)),
    rowStarts: Int32Array.of(0, 10),
  };
}

function blocksAt(anchors: number[], keep: number[] = anchors.map(() => 1)): Blocks {
  return {
    anchors: Int32Array.from(anchors),
    keep: Uint8Array.from(keep),
    rowStarts: new Int32Array(anchors.length),
    rowEnds: new Int32Array(anchors.length).fill(10),
  };
}

test("slot k has to predict the token at anchor + k, the anchor's slot nothing", () => {
  const { rows, labels } = blockTargets(blocksAt([2, 5]), row(), 4);
  expect([...rows]).toEqual([1, 2, 3, 5, 6, 7]);
  expect([...labels]).toEqual([103, 104, 105, 106, 107, 108]);
});

test("a block that runs past its row keeps the slots inside", () => {
  expect([...blockTargets(blocksAt([8]), row(), 4).labels]).toEqual([109]);
  expect(blockTargets(blocksAt([9]), row(), 4).rows).toHaveLength(0);
});

test("a block ends with its row, not with the batch", () => {
  const blocks = { ...blocksAt([2]), rowEnds: Int32Array.of(4) };
  expect([...blockTargets(blocks, row(), 4).labels]).toEqual([103]);
});

test("a hole in the loss mask drops its slot only", () => {
  expect([...blockTargets(blocksAt([2]), row(4), 4).rows]).toEqual([1, 3]);
});

test("a block that is not kept has no targets", () => {
  expect([...blockTargets(blocksAt([2, 5], [0, 1]), row(), 4).rows]).toEqual([5, 6, 7]);
});

test("each target says which token of the batch it is", () => {
  const { tokens, labels } = blockTargets(blocksAt([2, 5]), row(4), 4);
  expect([...tokens]).toEqual([3, 5, 6, 7, 8]);
  expect([...labels]).toEqual([103, 105, 106, 107, 108]);
});

test("rows count when something in them is supervised", () => {
  const blocks = { ...blocksAt([1, 5, 6]), rowStarts: Int32Array.of(0, 4, 4), rowEnds: Int32Array.of(4, 10, 10) };
  expect(blockTargets(blocks, row(), 4).rowCount).toBe(2);
  expect(blockTargets(blocks, row(2, 3), 4).rowCount).toBe(1);
  expect(blockTargets(blocksAt([2]), row(3, 4, 5), 4)).toMatchObject({ rowCount: 0, rows: new Int32Array(0) });
});
