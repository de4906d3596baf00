import { describe, expect, it } from "vitest";
import { causalRowRanges } from "./causalRowRanges.ts";
import { and, not, or } from "./combine.ts";
import { denseFromRowRanges } from "./rowRanges.ts";
import { causal, documents, prefix, slidingWindow } from "./knownPredicates.ts";
import { denseByDefinition } from "./oracle.test-support.ts";
import { toRowRanges } from "./rowRanges.ts";

describe("toRowRanges", () => {
  it("gives the ranges of causalRowRanges for the same mask", () => {
    const rowStarts = Int32Array.of(0, 5, 5, 12);
    const predicate = and(causal, documents(rowStarts), slidingWindow(3));
    expect(toRowRanges(predicate, { qLen: 12, kvLen: 12 })).toEqual(causalRowRanges({ rowStarts, slidingWindow: 3 }));
  });

  it("holds two intervals a query, of any predicate", () => {
    const sinks = or(prefix(2), and(causal, slidingWindow(3)));
    const dense = denseByDefinition((q, k) => k < 2 || (k <= q && q - k < 3), [1, 1, 9, 9]);
    expect(denseFromRowRanges(toRowRanges(sinks, { qLen: 9, kvLen: 9 }))).toEqual(dense);
    expect(denseFromRowRanges(toRowRanges((...at) => sinks(...at), { qLen: 9, kvLen: 9 }))).toEqual(dense);
    expect(denseFromRowRanges(toRowRanges(not(prefix(9)), { qLen: 9, kvLen: 9 }))).toEqual(new Uint8Array(81));
  });

  it("refuses a third interval", () => {
    expect(() => toRowRanges((q, k) => q > 2 && k % 2 === 0, { qLen: 4, kvLen: 6 })).toThrow(
      new RangeError("predicate must show a query at most 2 intervals of keys, got 3 for query 3"),
    );
  });
});
