import { uniformInteger } from "./rowOrder.ts";
import type { RowGroup, TokenRow } from "./tokenBatch.ts";

/** How rows become batches. */
export interface GroupRowsOptions {
  /** Rows of a batch. This or `batchTokens`. */
  readonly batchRows?: number;
  /** Row lengths that may occur, with `batchRows`: rows of about the same length share a batch, padded to one of these. */
  readonly lengthBuckets?: readonly number[];
  /** Tokens of a batch: rows are packed one behind the other until it is full, and the last one is padded. */
  readonly batchTokens?: number;
}

/**
 * Checks the options and gives the number of rows that are grouped together: more of them waste less padding, but the
 * first batch waits for all of them.
 *
 * @throws {Error} One line that names the option, its value and what was expected.
 */
export function windowRows({ batchRows, lengthBuckets, batchTokens }: GroupRowsOptions): number {
  if ((batchRows === undefined) === (batchTokens === undefined)) {
    throw new Error("batchRows and batchTokens: expected one of them");
  }
  for (const [name, value] of [
    ["batchRows", batchRows ?? 1],
    ["batchTokens", batchTokens ?? 1],
    ...(lengthBuckets ?? []).map((length, i) => [`lengthBuckets[${i}]`, length] as const),
  ] as const) {
    if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${name} is ${value}, expected an integer ≥ 1`);
  }
  if (lengthBuckets?.length === 0) throw new Error("lengthBuckets is empty, expected row lengths");
  if (batchRows === undefined) return 64;
  return lengthBuckets === undefined ? batchRows : Math.ceil(64 / batchRows) * batchRows;
}

/** The longest row that a batch can hold. */
export function longestRow({ batchTokens, lengthBuckets = [Infinity] }: GroupRowsOptions): number {
  return batchTokens ?? Math.max(...lengthBuckets);
}

/**
 * Groups the rows of one window into batches. The result depends on nothing but the arguments.
 *
 * @param counters Numbers of the window: they seed the order of its batches, which would otherwise go by length.
 */
export function groupRows<Row extends TokenRow>(
  rows: readonly Row[],
  { batchRows = 0, lengthBuckets, batchTokens }: GroupRowsOptions,
  counters: readonly number[],
): RowGroup<Row>[] {
  if (batchTokens === undefined && lengthBuckets === undefined) {
    return [{ rows, lengths: rows.map(({ ids }) => ids.length) }];
  }
  const longestFirst = rows.toSorted((a, b) => b.ids.length - a.ids.length);
  const groups =
    batchTokens === undefined ? bucket(longestFirst, batchRows, lengthBuckets ?? []) : pack(longestFirst, batchTokens);
  for (let i = groups.length - 1; i > 0; i--) {
    const j = uniformInteger(i + 1, ...counters, i);
    [groups[i], groups[j]] = [groups[j]!, groups[i]!];
  }
  return groups;
}

function bucket<Row extends TokenRow>(
  rows: readonly Row[],
  batchRows: number,
  buckets: readonly number[],
): RowGroup<Row>[] {
  const groups: RowGroup<Row>[] = [];
  for (let start = 0; start < rows.length; start += batchRows) {
    const group = rows.slice(start, start + batchRows);
    const length = Math.min(...buckets.filter((candidate) => candidate >= group[0]!.ids.length));
    groups.push({ rows: group, lengths: group.map(() => length) });
  }
  return groups;
}

/** First-fit decreasing: each row goes into the first batch that still has room for it. */
function pack<Row extends TokenRow>(rows: readonly Row[], batchTokens: number): RowGroup<Row>[] {
  const bins: { rows: Row[]; room: number }[] = [];
  for (const row of rows) {
    let bin = bins.find(({ room }) => room >= row.ids.length);
    if (bin === undefined) bins.push((bin = { rows: [], room: batchTokens }));
    bin.rows.push(row);
    bin.room -= row.ids.length;
  }
  return bins.map(({ rows: group, room }) => ({
    rows: group,
    lengths: group.map(({ ids }, r) => (r === group.length - 1 ? ids.length + room : ids.length)),
  }));
}
