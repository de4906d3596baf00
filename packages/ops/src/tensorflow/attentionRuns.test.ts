import { causalRowRanges, denseFromRowRanges, dflashRowRanges, type RowRanges } from "@dflash/block-mask";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { attentionRuns, keyCount, type AttentionRun } from "./attentionRuns.ts";

const ranges: fc.Arbitrary<RowRanges> = fc
  .record({ queries: fc.integer({ min: 0, max: 90 }), keys: fc.integer({ min: 1, max: 60 }) })
  .chain(({ queries, keys }) =>
    fc
      .array(fc.tuple(fc.nat(keys), fc.nat(keys), fc.nat(keys), fc.nat(keys), fc.boolean()), {
        minLength: queries,
        maxLength: queries,
      })
      .map((rows) => ({
        queryLength: queries,
        keyLength: keys,
        // Some rows see nothing.
        bounds: Int32Array.from(
          rows.flatMap(([a, b, c, d, none]) => (none ? [0, 0, 0, 0] : [a, b, c, d].toSorted((x, y) => x - y))),
        ),
      })),
  );

/** The mask that the runs stand for, 1 where a query sees a key; fails on a pair in two runs. */
function maskOf(runs: readonly AttentionRun[], { queryLength, keyLength }: RowRanges): Uint8Array {
  const dense = new Uint8Array(queryLength * keyLength);
  for (const { row, rowEnd, spans, mask } of runs) {
    const keys = spans.flatMap(([start, end]) => Array.from({ length: end - start }, (_, i) => start + i));
    for (let query = row; query < rowEnd; query++) {
      keys.forEach((key, i) => {
        if (mask !== null && mask[(query - row) * keys.length + i] !== 0) return;
        expect(dense[query * keyLength + key]).toBe(0);
        dense[query * keyLength + key] = 1;
      });
    }
  }
  return dense;
}

const costOf = (runs: readonly AttentionRun[], overhead: number): number =>
  runs.reduce((sum, { row, rowEnd, spans }) => sum + (rowEnd - row) * keyCount(spans) + overhead, 0);

test("the runs show each query exactly the keys that it sees, in order, with one or two spans apart", () =>
  fc.assert(
    fc.property(ranges, fc.nat(3000), fc.integer({ min: 1, max: 3000 }), (mask, overhead, most) => {
      const runs = attentionRuns(mask, overhead, most);
      expect(maskOf(runs, mask)).toEqual(denseFromRowRanges(mask));
      let row = 0;
      for (const run of runs) {
        expect(run.row).toBeGreaterThanOrEqual(row);
        expect(run.rowEnd).toBeGreaterThan(run.row);
        row = run.rowEnd;
        expect([1, 2]).toContain(run.spans.length);
        const edges = run.spans.flat();
        expect(edges).toEqual([...new Set(edges)].toSorted((a, b) => a - b));
      }
    }),
  ));

test("a run without a mask is one where every row sees every key", () => {
  const blocks = dflashRowRanges({ anchors: Int32Array.of(5), blockSize: 4, contextLength: 9 });
  expect(attentionRuns(blocks, 0, Infinity)).toEqual([
    {
      row: 0,
      rowEnd: 4,
      spans: [
        [0, 5],
        [9, 13],
      ],
      mask: null,
    },
  ]);
});

test("documents are runs of their own where a run costs little, and one where it costs much", () => {
  const documents = causalRowRanges({ rowStarts: Int32Array.of(0, 30, 45, 80) });
  const rowsOf = (overhead: number, most = Infinity): number[][] =>
    attentionRuns(documents, overhead, most).map(({ row, rowEnd }) => [row, rowEnd]);
  expect(rowsOf(1e9)).toEqual([[0, 80]]);
  expect(rowsOf(600)).toEqual([
    [0, 30],
    [30, 45],
    [45, 80],
  ]);
  // In one run it would be 80 × 80.
  expect(rowsOf(1e9, 6399).length).toBeGreaterThan(1);
});

test("no division of the documents into runs of neighbours costs less", () =>
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 16 }), { minLength: 1, maxLength: 6 }),
      fc.nat(2000),
      (lengths, overhead) => {
        const rowStarts = Int32Array.of(0, ...lengths.map((_, i) => lengths.slice(0, i + 1).reduce((a, b) => a + b)));
        const found = costOf(attentionRuns(causalRowRanges({ rowStarts }), overhead, Infinity), overhead);
        // Each subset of the boundaries between documents; a causal run of them sees all its own rows.
        for (let cuts = 0; cuts < 2 ** (lengths.length - 1); cuts++) {
          const sizes = [lengths[0]!];
          for (let i = 1; i < lengths.length; i++) {
            if (cuts & (1 << (i - 1))) sizes.push(lengths[i]!);
            else sizes[sizes.length - 1]! += lengths[i]!;
          }
          expect(found).toBeLessThanOrEqual(sizes.reduce((sum, size) => sum + size * size + overhead, 0));
        }
      },
    ),
  ));
