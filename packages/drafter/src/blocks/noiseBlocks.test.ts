import { expect, test } from "vitest";
import { noiseBlocks, rowPositions } from "./noiseBlocks.ts";

test("a kept block starts with its anchor's token; all else is the mask token", () => {
  const blocks = {
    anchors: Int32Array.of(1, 5, 3),
    keep: Uint8Array.of(1, 1, 0),
    rowStarts: Int32Array.of(0, 3, 3),
    rowEnds: Int32Array.of(3, 7, 7),
  };
  const { ids, positions } = noiseBlocks(blocks, Int32Array.of(10, 11, 12, 13, 14, 15, 16), 3, 99);
  expect([...ids]).toEqual([11, 99, 99, 15, 99, 99, 99, 99, 99]);
  expect([...positions]).toEqual([1, 2, 3, 2, 3, 4, 0, 1, 2]);
});

test("positions restart in each row", () => {
  expect([...rowPositions(Int32Array.of(0, 3, 3, 5))]).toEqual([0, 1, 2, 0, 1]);
});
