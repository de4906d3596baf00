import type { TokenBatch } from "@dflash/target-forward";
import { expect, test } from "vitest";
import { blockTargets } from "./blockTargets.ts";
import type { Blocks } from "./sampleAnchors.ts";
import { slotWeights } from "./slotWeights.ts";

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

const equal = slotWeights(4, null);

test("slot k has to predict the token at anchor + k, the anchor's slot nothing", () => {
  const { rows, labels } = blockTargets(blocksAt([2, 5]), row(), equal);
  expect([...rows]).toEqual([1, 2, 3, 5, 6, 7]);
  expect([...labels]).toEqual([103, 104, 105, 106, 107, 108]);
});

test("a block that runs past its row keeps the slots inside", () => {
  expect([...blockTargets(blocksAt([8]), row(), equal).labels]).toEqual([109]);
  expect(blockTargets(blocksAt([9]), row(), equal).rows).toHaveLength(0);
});

test("a block ends with its row, not with the batch", () => {
  const blocks = { ...blocksAt([2]), rowEnds: Int32Array.of(4) };
  expect([...blockTargets(blocks, row(), equal).labels]).toEqual([103]);
});

test("a hole in the loss mask drops its slot only", () => {
  expect([...blockTargets(blocksAt([2]), row(4), equal).rows]).toEqual([1, 3]);
});

test("a block that is not kept has no targets", () => {
  expect([...blockTargets(blocksAt([2, 5], [0, 1]), row(), equal).rows]).toEqual([5, 6, 7]);
});

test("weights go by slot, their sum over what is supervised", () => {
  // γ 7 and three slots in range: 1 + .8669 + .7515
  const { weights, weightSum } = blockTargets(blocksAt([6]), row(), slotWeights(16, 7));
  expect(weights).toHaveLength(3);
  expect(weightSum).toBeCloseTo(2.6184, 4);
  expect(weights[1]).toBeCloseTo(0.8669, 4);
});

test("nothing supervised weighs nothing", () => {
  expect(blockTargets(blocksAt([2]), row(3, 4, 5), equal)).toMatchObject({ weightSum: 0 });
});
