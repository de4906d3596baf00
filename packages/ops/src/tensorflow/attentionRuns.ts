import type { RowRanges } from "@dflash/block-mask";

/** Keys start ≤ key < end. */
export type KeySpan = readonly [start: number, end: number];

/** Query rows row ≤ i < rowEnd, computed together over all keys of `spans`. */
export interface AttentionRun {
  readonly row: number;
  readonly rowEnd: number;
  /** One or two, in order and apart. */
  readonly spans: readonly KeySpan[];
  /** 0 where a row sees a key and −1e9 where not, rows × keys of the spans; null when all rows see all of them. */
  readonly mask: Float32Array | null;
}

/** Rows that are never torn apart. */
interface Atom {
  readonly row: number;
  readonly rowEnd: number;
  readonly spans: readonly KeySpan[];
}

/**
 * Splits the queries into the runs that cost least: a run costs its rows × keys, seen or not, and `overhead` more for its
 * dispatches. Rows that see no key are in none; no run has more than `most` rows × keys where it can be split.
 */
export function attentionRuns(ranges: RowRanges, overhead: number, most: number): AttentionRun[] {
  return stretches(ranges).flatMap((atoms) => cheapest(atoms, overhead, most).map((run) => withMask(run, ranges)));
}

export const keyCount = (spans: readonly KeySpan[]): number =>
  spans.reduce((sum, [start, end]) => sum + end - start, 0);

/** Atoms by stretches of neighbouring rows that see something. */
function stretches({ queryLength, bounds }: RowRanges): Atom[][] {
  const atomRows = Math.max(16, Math.ceil(queryLength / 256));
  const all: Atom[][] = [];
  let stretch: Atom[] = [];
  for (let row = 0; row < queryLength; row++) {
    const spans = spansOf(bounds.subarray(4 * row, 4 * row + 4));
    if (spans.length === 0) {
      if (stretch.length > 0) all.push(stretch);
      stretch = [];
      continue;
    }
    const last = stretch.at(-1);
    // Another first key is, nearly always, another document.
    const joins = last !== undefined && row - last.row < atomRows && last.spans[0]![0] === spans[0]![0];
    const atom = { row: joins ? last.row : row, rowEnd: row + 1, spans: joins ? hull(last.spans, spans) : spans };
    stretch.splice(joins ? -1 : stretch.length, 1, atom);
  }
  if (stretch.length > 0) all.push(stretch);
  return all;
}

/** The cheapest division of the atoms into runs, by dynamic programming over where the last run starts. */
function cheapest(atoms: readonly Atom[], overhead: number, most: number): Atom[] {
  const cost = [0];
  const lastRun: Atom[] = [];
  const runStart: number[] = [];
  for (let end = 1; end <= atoms.length; end++) {
    let best = Infinity;
    let spans: readonly KeySpan[] = [];
    const { rowEnd } = atoms[end - 1]!;
    for (let start = end - 1; start >= 0; start--) {
      const atom = atoms[start]!;
      spans = hull(spans, atom.spans);
      const pairs = (rowEnd - atom.row) * keyCount(spans);
      if (pairs > most && start < end - 1) break;
      if (cost[start]! + pairs + overhead >= best) continue;
      best = cost[start]! + pairs + overhead;
      lastRun[end] = { row: atom.row, rowEnd, spans };
      runStart[end] = start;
    }
    cost.push(best);
  }
  const runs: Atom[] = [];
  for (let end = atoms.length; end > 0; end = runStart[end]!) runs.unshift(lastRun[end]!);
  return runs;
}

/** The intervals of a row that hold keys; those that touch are one. */
function spansOf([start0 = 0, end0 = 0, start1 = 0, end1 = 0]: Int32Array): readonly KeySpan[] {
  if (start0 === end0) return start1 === end1 ? [] : [[start1, end1]];
  if (start1 === end1) return [[start0, end0]];
  return start1 === end0
    ? [[start0, end1]]
    : [
        [start0, end0],
        [start1, end1],
      ];
}

/** One or two intervals around all of these, the two with the widest gap between them. */
function hull(a: readonly KeySpan[], b: readonly KeySpan[]): readonly KeySpan[] {
  const merged: [number, number][] = [];
  for (const [start, end] of [...a, ...b].toSorted((x, y) => x[0] - y[0])) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  while (merged.length > 2) {
    const gaps = merged.slice(1).map(([start], i) => start - merged[i]![1]);
    const narrowest = gaps.indexOf(Math.min(...gaps));
    merged.splice(narrowest, 2, [merged[narrowest]![0], merged[narrowest + 1]![1]]);
  }
  return merged;
}

function withMask({ row, rowEnd, spans }: Atom, { bounds }: RowRanges): AttentionRun {
  const keys = keyCount(spans);
  const mask = new Float32Array((rowEnd - row) * keys).fill(-1e9);
  let seen = 0;
  for (let query = row; query < rowEnd; query++) {
    let offset = (query - row) * keys;
    for (const [start, end] of spans) {
      for (let at = 4 * query; at < 4 * query + 4; at += 2) {
        const from = Math.max(start, bounds[at]!);
        const to = Math.min(end, bounds[at + 1]!);
        if (from >= to) continue;
        mask.fill(0, offset + from - start, offset + to - start);
        seen += to - from;
      }
      offset += end - start;
    }
  }
  return { row, rowEnd, spans, mask: seen === mask.length ? null : mask };
}
