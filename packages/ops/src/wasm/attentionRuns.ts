import type { RowRanges } from "@dflash/block-mask";

/** Two intervals of keys, start ≤ key < end, in order and disjoint; either may be empty. */
type KeySpans = readonly [start0: number, end0: number, start1: number, end1: number];

/** Query rows row ≤ i < rowEnd and spans that contain every key these rows see. */
export interface AttentionRun {
  readonly row: number;
  readonly rowEnd: number;
  readonly spans: KeySpans;
}

/** What laying out a run's keys costs, in rows of scores. */
const overheadRows = 8;

/** Scores that a run of several rows may have, so that a tile of them stays in a core's cache, … */
const mostScores = 65_536;

/** … unless it has no more rows than these: each run packs all its keys, which fewer rows would not make worth while. */
const fewRows = 64;

/**
 * Splits the queries into runs of rows that share their keys: a row joins the run before it where computing both over the
 * keys of either costs less than two runs. Rows that see no key are in none.
 */
export function attentionRuns({ queryLength, bounds }: RowRanges): AttentionRun[] {
  const runs: AttentionRun[] = [];
  for (let row = 0; row < queryLength; row++) {
    const [start0 = 0, end0 = 0, start1 = 0, end1 = 0] = bounds.subarray(4 * row, 4 * row + 4);
    const own = { row, rowEnd: row + 1, spans: spansOf([start0, end0], [start1, end1]) };
    if (keysOf(own) === 0) continue;
    const last = runs.at(-1);
    const joined = last?.rowEnd === row ? join(last, own) : undefined;
    if (last !== undefined && joined !== undefined && pays(joined, last, own)) runs[runs.length - 1] = joined;
    else runs.push(own);
  }
  return runs;
}

export function keysOf({ spans: [start0, end0, start1, end1] }: AttentionRun): number {
  return end0 - start0 + end1 - start1;
}

function pays(joined: AttentionRun, a: AttentionRun, b: AttentionRun): boolean {
  const rows = joined.rowEnd - joined.row;
  const fits = rows <= fewRows || rows * keysOf(joined) <= mostScores;
  return fits && cost(joined) <= cost(a) + cost(b);
}

function cost(run: AttentionRun): number {
  return (run.rowEnd - run.row + overheadRows) * keysOf(run);
}

function join({ row, spans: a }: AttentionRun, { rowEnd, spans: b }: AttentionRun): AttentionRun {
  return { row, rowEnd, spans: spansOf(hull(a[0], a[1], b[0], b[1]), hull(a[2], a[3], b[2], b[3])) };
}

type Interval = readonly [start: number, end: number];

function hull(start: number, end: number, otherStart: number, otherEnd: number): Interval {
  if (start === end) return [otherStart, otherEnd];
  if (otherStart === otherEnd) return [start, end];
  return [Math.min(start, otherStart), Math.max(end, otherEnd)];
}

/** Two intervals as spans: an empty one moves to the edge of the other, and two that meet become one. */
function spansOf(first: Interval, second: Interval): KeySpans {
  if (first[0] === first[1]) return [second[0], second[0], ...second];
  if (second[0] === second[1]) return [...first, first[1], first[1]];
  if (first[1] <= second[0]) return [...first, ...second];
  const [start, end] = hull(...first, ...second);
  return [start, end, end, end];
}
