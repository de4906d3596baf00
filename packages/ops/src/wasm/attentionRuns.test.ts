import { causalRowRanges, dflashRowRanges, type RowRanges } from "@dflash/block-mask";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { attentionRuns, keysOf } from "./attentionRuns.ts";

const rowBounds = fc
  .array(fc.nat(200), { minLength: 4, maxLength: 4 })
  .map((bounds) => bounds.toSorted((a, b) => a - b));
const anyRanges = fc
  .array(rowBounds, { maxLength: 60 })
  .map((rows): RowRanges => ({ queryLength: rows.length, keyLength: 200, bounds: Int32Array.from(rows.flat()) }));

const seen = ({ bounds }: RowRanges, row: number): [start: number, end: number][] =>
  [0, 2]
    .map((at): [number, number] => [bounds[4 * row + at]!, bounds[4 * row + at + 1]!])
    .filter(([start, end]) => start < end);

test("every row that sees a key is in one run, whose spans hold all that it sees", () => {
  fc.assert(
    fc.property(anyRanges, (ranges) => {
      const runs = attentionRuns(ranges);
      const rows = runs.flatMap(({ row, rowEnd }) => Array.from({ length: rowEnd - row }, (_, i) => row + i));
      const seeing = Array.from({ length: ranges.queryLength }, (_, row) => row).filter(
        (row) => seen(ranges, row).length > 0,
      );
      expect(rows).toEqual(seeing);
      for (const { row, rowEnd, spans } of runs) {
        const [start0, end0, start1, end1] = spans;
        expect([...spans]).toEqual(spans.toSorted((a, b) => a - b));
        for (let query = row; query < rowEnd; query++) {
          for (const [start, end] of seen(ranges, query)) {
            expect((start0 <= start && end <= end0) || (start1 <= start && end <= end1)).toBe(true);
          }
        }
      }
    }),
  );
});

const scores = (ranges: RowRanges): number =>
  attentionRuns(ranges).reduce((sum, run) => sum + (run.rowEnd - run.row) * keysOf(run), 0);

test("blocks are computed over their context and themselves, and not over all keys", () => {
  const anchors = Int32Array.from({ length: 64 }, (_, block) => 30 * block + 30);
  const ranges = dflashRowRanges({ anchors, blockSize: 8, contextLength: 2000 });
  const visible = anchors.reduce((sum, anchor) => sum + 8 * (anchor + 8), 0);
  expect(scores(ranges)).toBeLessThan(1.2 * visible);
});

test("a causal row is one run while its scores fit a tile, a long one runs of 64 rows, and documents stay apart", () => {
  const rowStarts = Int32Array.of(0, 100, 220);
  expect(attentionRuns(causalRowRanges({ rowStarts }))).toEqual([
    { row: 0, rowEnd: 100, spans: [0, 100, 100, 100] },
    { row: 100, rowEnd: 220, spans: [100, 220, 220, 220] },
  ]);
  const long = attentionRuns(causalRowRanges({ rowStarts: Int32Array.of(0, 3000) }));
  expect(long.filter((run) => run.rowEnd - run.row > 64 && (run.rowEnd - run.row) * keysOf(run) > 65_536)).toEqual([]);
  // Fewer rows would pack all their keys for little work.
  expect(long.slice(0, -1).filter((run) => run.rowEnd - run.row < 64)).toEqual([]);
  expect(scores(causalRowRanges({ rowStarts: Int32Array.of(0, 3000) }))).toBeLessThan(0.55 * 3000 ** 2);
});
