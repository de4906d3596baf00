import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { causalRowRanges } from "./causalRowRanges.ts";
import { and, not, or, perBatch, perHead } from "./combine.ts";
import { createBlockMask } from "./createBlockMask.ts";
import { causal, dflash, documents, fromRowRanges, prefix, slidingWindow } from "./knownPredicates.ts";
import type { KnownMaskPredicate, MaskPredicate } from "./maskPredicate.ts";
import { denseByDefinition, validLists } from "./oracle.test-support.ts";

const length = 23;

/** A known predicate beside the same mask in plain terms. */
type Pair = { readonly known: KnownMaskPredicate; readonly plain: MaskPredicate };

const anyLeaf: fc.Arbitrary<Pair> = fc.oneof(
  fc.constant<Pair>({ known: causal, plain: (q, k) => q >= k }),
  fc.integer({ min: 1, max: 30 }).map((w): Pair => ({ known: slidingWindow(w), plain: (q, k) => q - k < w })),
  fc.integer({ min: 0, max: 30 }).map((n): Pair => ({ known: prefix(n), plain: (_, k) => k < n })),
  fc.integer({ min: 0, max: length }).map((cut): Pair => {
    return { known: documents(Int32Array.of(0, cut, length)), plain: (q, k) => q < cut === k < cut };
  }),
  fc.integer({ min: 1, max: 30 }).map((w): Pair => {
    const ranges = causalRowRanges({ rowStarts: Int32Array.of(0, length), slidingWindow: w });
    return { known: fromRowRanges(ranges), plain: (q, k) => q >= k && q - k < w };
  }),
);

const anyPair: fc.Arbitrary<Pair> = fc.letrec<{ pair: Pair }>((tie) => ({
  pair: fc.oneof(
    { maxDepth: 4 },
    anyLeaf,
    tie("pair").map(({ known, plain }): Pair => ({ known: not(known), plain: (...at) => !plain(...at) })),
    fc.array(tie("pair"), { maxLength: 3 }).map((all): Pair => {
      return { known: and(...all.map((p) => p.known)), plain: (...at) => all.every((p) => p.plain(...at)) };
    }),
    fc.array(tie("pair"), { maxLength: 3 }).map((all): Pair => {
      return { known: or(...all.map((p) => p.known)), plain: (...at) => all.some((p) => p.plain(...at)) };
    }),
  ),
})).pair;

const windowAndPrefix: MaskPredicate = (q, k) => (q >= k && q - k < 4) || k < 3;

const byBatchAndHead: MaskPredicate = (q, k, batch, head) =>
  batch === 0 ? (head === 0 ? q >= k : k < 2) : head === 0 ? q - k < 1 : q < k;

describe("combined predicates", () => {
  it("give by arithmetic the mask that the plain predicate gives by visiting every element", () => {
    fc.assert(
      fc.property(anyPair, fc.integer({ min: 1, max: 12 }), ({ known, plain }, tile) => {
        const mask = createBlockMask(known, { qLen: length, kvLen: length, tile });
        const visited = createBlockMask(plain, { qLen: length, kvLen: length, tile });
        expect(known.seeKeys).toBeDefined();
        expect(validLists(mask, mask.rows, mask.columns)).toEqual(validLists(visited, mask.rows, mask.columns));
        expect(mask.toDense()).toEqual(denseByDefinition(plain, [1, 1, length, length]));
      }),
    );
  });

  it("hold for fewer queries than keys, and the other way round", () => {
    const known = or(and(causal, slidingWindow(4)), prefix(3));
    for (const [qLen, kvLen] of [
      [5, 14],
      [14, 5],
    ] as const) {
      expect(
        createBlockMask(known, { qLen, kvLen, tile: 4 }).equals(
          createBlockMask(windowAndPrefix, { qLen, kvLen, tile: 4 }),
        ),
      ).toBe(true);
    }
  });

  it("visit the elements where one part is not known", () => {
    const mixed = and(causal, (_, k) => k % 2 === 0);
    expect(mixed.seeKeys).toBeUndefined();
    const mask = createBlockMask(mixed, { qLen: 9, kvLen: 9, tile: 3 });
    expect(mask.toDense()).toEqual(denseByDefinition((q, k) => q >= k && k % 2 === 0, [1, 1, 9, 9]));
  });

  it("differ by batch element and by head", () => {
    const predicate = perBatch(perHead(causal, prefix(2)), perHead(slidingWindow(1), not(causal)));
    const mask = createBlockMask(predicate, { qLen: 8, kvLen: 8, batch: 2, heads: 2, tile: 3 });
    expect(mask.toDense()).toEqual(denseByDefinition(byBatchAndHead, [2, 2, 8, 8]));
    expect(() => createBlockMask(predicate, { qLen: 8, kvLen: 8, batch: 3, heads: 2 })).toThrow(
      new RangeError("batch must be an integer from 0 to 1, got 2"),
    );
  });
});

describe("known predicates refuse", () => {
  it.each<[string, () => unknown, string]>([
    ["a negative window", () => slidingWindow(-1), "window must be an integer from 1 to 2147483647, got -1"],
    ["a negative prefix", () => prefix(-2), "length must be an integer from 0 to 2147483647, got -2"],
    [
      "documents without an end",
      () => documents(Int32Array.of(0)),
      "rowStarts must hold the start of each row and the end of the last, got 1 values",
    ],
    [
      "more queries than the documents have",
      () => createBlockMask(documents(Int32Array.of(0, 4)), { qLen: 5, kvLen: 4 }),
      "qLen must be at most the end of rowStarts, 4, got 5",
    ],
    [
      "more keys than the documents have",
      () => createBlockMask(documents(Int32Array.of(0, 4)), { qLen: 4, kvLen: 5 }),
      "kvLen must be at most the end of rowStarts, 4, got 5",
    ],
    [
      "another number of keys than the row ranges have",
      () =>
        createBlockMask(dflash({ anchors: Int32Array.of(2), blockSize: 2, contextLength: 4 }), { qLen: 2, kvLen: 8 }),
      "kvLen must be the row ranges' keyLength, 6, got 8",
    ],
    [
      "another number of queries than the row ranges have",
      () =>
        createBlockMask(dflash({ anchors: Int32Array.of(2), blockSize: 2, contextLength: 4 }), { qLen: 3, kvLen: 6 }),
      "qLen must be the row ranges' queryLength, 2, got 3",
    ],
  ])("%s", (_, build, message) => {
    expect(build).toThrow(new RangeError(message));
  });
});
