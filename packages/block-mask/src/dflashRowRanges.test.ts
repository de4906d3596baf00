import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { denseFromRowRanges } from "./rowRanges.ts";
import { dflashContextRanges, dflashRowRanges, type DflashOptions } from "./dflashRowRanges.ts";
import { anyDflash, denseByDefinition, dflashByDefinition } from "./oracle.test-support.ts";

const keysSeen = (options: DflashOptions): number[][] => {
  const { queryLength, keyLength, ...rest } = dflashRowRanges(options);
  const dense = denseFromRowRanges({ queryLength, keyLength, ...rest });
  return Array.from({ length: queryLength }, (_, q) =>
    Array.from({ length: keyLength }, (_unused, k) => k).filter((k) => dense[q * keyLength + k] === 1),
  );
};

describe("dflashRowRanges", () => {
  it("moves the window of a sliding layer with the offset, over the context only", () => {
    expect(keysSeen({ anchors: Int32Array.of(6), blockSize: 4, contextLength: 12, slidingWindow: 4 })).toEqual([
      [3, 4, 5, 12],
      [4, 5, 12, 13],
      [5, 12, 13, 14],
      [12, 13, 14, 15],
    ]);
  });

  it("shows a + B keys to each query of a block, a + o + 1 where the block is causal", () => {
    const anchors = Int32Array.of(0, 5, 19, 20);
    const full = keysSeen({ anchors, blockSize: 3, contextLength: 20 });
    const causal = keysSeen({ anchors, blockSize: 3, contextLength: 20, causalInBlock: true });
    anchors.forEach((anchor, block) => {
      for (let offset = 0; offset < 3; offset++) {
        expect(full[3 * block + offset]).toHaveLength(anchor + 3);
        expect(causal[3 * block + offset]).toHaveLength(anchor + offset + 1);
      }
    });
  });

  it("equals the definition, element by element, within the contract of RowRanges", () => {
    fc.assert(
      fc.property(anyDflash, (options) => {
        const ranges = dflashRowRanges(options);
        const { queryLength, keyLength, bounds } = ranges;
        for (let q = 0; q < queryLength; q++) {
          const [s0, e0, s1, e1] = bounds.subarray(4 * q, 4 * q + 4);
          expect([0, s0, e0, s1, e1, keyLength]).toEqual([0, s0, e0, s1, e1, keyLength].toSorted((a, b) => a! - b!));
        }
        expect(denseFromRowRanges(ranges)).toEqual(
          denseByDefinition(dflashByDefinition(options), [1, 1, queryLength, keyLength]),
        );
      }),
    );
  });

  it("gives each block the context that its queries see between them", () => {
    fc.assert(
      fc.property(anyDflash, (options) => {
        const contexts = dflashContextRanges(options);
        const seen = keysSeen(options);
        options.anchors.forEach((_, block) => {
          const queries = seen.slice(block * options.blockSize, (block + 1) * options.blockSize);
          const keys = [...new Set(queries.flat())].filter((k) => k < options.contextLength).toSorted((a, b) => a - b);
          const [start, end] = contexts.subarray(2 * block, 2 * block + 2);
          expect(keys).toEqual(Array.from({ length: end! - start! }, (_unused, i) => start! + i));
        });
      }),
    );
  });

  it.each<[string, Partial<DflashOptions>, string]>([
    [
      "an anchor past the context",
      { anchors: Int32Array.of(3, 13) },
      "anchors[1] must be an integer from 0 to 12, got 13",
    ],
    ["a negative anchor", { anchors: Int32Array.of(-1, 3) }, "anchors[0] must be an integer from 0 to 12, got -1"],
    ["a negative window", { slidingWindow: -4 }, "slidingWindow must be an integer from 1 to 2147483647, got -4"],
    ["a block size of 0", { blockSize: 0 }, "blockSize must be an integer from 1 to 2147483647, got 0"],
    [
      "a fractional context length",
      { contextLength: 12.5 },
      "contextLength must be an integer from 0 to 2147483647, got 12.5",
    ],
    ["keep of another length", { keep: Uint8Array.of(1) }, "keep must hold 2 values (one a block, as anchors), got 1"],
    [
      "contextStarts of another length",
      { contextStarts: Int32Array.of(0, 0, 0) },
      "contextStarts must hold 2 values (one a block, as anchors), got 3",
    ],
    [
      "a document that starts behind its anchor",
      { contextStarts: Int32Array.of(0, 9) },
      "contextStarts[1] must be an integer from 0 to 8, got 9",
    ],
  ])("refuses %s", (_, wrong, message) => {
    const options = { anchors: Int32Array.of(3, 8), blockSize: 4, contextLength: 12, ...wrong };
    expect(() => dflashRowRanges(options)).toThrow(new RangeError(message));
  });

  it("does not look at the anchor of an unused block", () => {
    const seen = keysSeen({ anchors: Int32Array.of(-1, 2), keep: Uint8Array.of(0, 1), blockSize: 2, contextLength: 4 });
    expect(seen).toEqual([[], [], [0, 1, 6, 7], [0, 1, 6, 7]]);
  });
});
