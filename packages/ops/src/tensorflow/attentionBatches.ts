import type { RowRanges } from "@dflash/block-mask";
import { type AttentionRun, attentionRuns, keyCount } from "./attentionRuns.ts";

/** Runs that are computed as one, each filled up to as many queries and keys as the largest has. */
export interface AttentionBatch {
  readonly runs: number;
  readonly rows: number;
  readonly keys: number;
  /** The query of each row of each run, `queryLength` where a run has no more; null when they are all queries in order. */
  readonly queryOf: Int32Array | null;
  /** The key of each place of each run, any where a run has no more; null when they are all keys in order. */
  readonly keyOf: Int32Array | null;
  /** 0 where a row sees a key and −1e9 where not, runs × rows × keys; null when all see all. */
  readonly mask: Float32Array | null;
}

/** How the queries are computed. */
export interface AttentionPlan {
  readonly batches: readonly AttentionBatch[];
  /** Of each query its row in all batches, one after another; one more than they have where it sees no key. Null when in order. */
  readonly rowOf: Int32Array | null;
}

/** Costs and limits in rows × keys. */
export interface AttentionCosts {
  /** Of a run more in a batch. */
  readonly run: number;
  /** Of a batch more, which is a dozen dispatches. */
  readonly batch: number;
  /** What a batch may have, where its runs can be split. */
  readonly most: number;
}

/** Divides the queries into runs, and these into batches of about one size. */
export function planAttention(ranges: RowRanges, costs: AttentionCosts): AttentionPlan {
  const groups: AttentionRun[][] = [];
  for (const run of attentionRuns(ranges, costs.run, costs.most).toSorted((a, b) => sizeOf([b]) - sizeOf([a]))) {
    const group = groups.at(-1);
    const joined = [...(group ?? []), run];
    const joins = group !== undefined && sizeOf(joined) <= costs.most;
    if (joins && sizeOf(joined) <= sizeOf(group) + sizeOf([run]) + costs.batch) group.push(run);
    else groups.push([run]);
  }
  const batches = groups.map((runs) => fillUp(runs, ranges));
  return { batches, rowOf: rowsOf(groups, batches, ranges.queryLength) };
}

const rowCount = ({ row, rowEnd }: AttentionRun): number => rowEnd - row;
const mostRows = (runs: readonly AttentionRun[]): number => Math.max(...runs.map(rowCount));
const mostKeys = (runs: readonly AttentionRun[]): number => Math.max(...runs.map(({ spans }) => keyCount(spans)));

/** Scores of a batch of these, the filling included. */
const sizeOf = (runs: readonly AttentionRun[]): number => runs.length * mostRows(runs) * mostKeys(runs);

function fillUp(runs: readonly AttentionRun[], { queryLength, keyLength }: RowRanges): AttentionBatch {
  const [rows, keys] = [mostRows(runs), mostKeys(runs)];
  const queryOf = new Int32Array(runs.length * rows).fill(queryLength);
  const keyOf = new Int32Array(runs.length * keys);
  const mask = new Float32Array(runs.length * rows * keys).fill(-1e9);
  for (const [i, run] of runs.entries()) {
    let place = i * keys;
    for (const [start, end] of run.spans) for (let key = start; key < end; key++) keyOf[place++] = key;
    const own = keyCount(run.spans);
    for (let row = 0; row < rowCount(run); row++) {
      const at = i * rows + row;
      queryOf[at] = run.row + row;
      if (run.mask === null) mask.fill(0, at * keys, at * keys + own);
      else mask.set(run.mask.subarray(row * own, (row + 1) * own), at * keys);
    }
  }
  return {
    runs: runs.length,
    rows,
    keys,
    queryOf: isInOrder(queryOf, queryLength) ? null : queryOf,
    keyOf: isInOrder(keyOf, keyLength) ? null : keyOf,
    mask: mask.some((value) => value !== 0) ? mask : null,
  };
}

function rowsOf(
  groups: readonly (readonly AttentionRun[])[],
  batches: readonly AttentionBatch[],
  queries: number,
): Int32Array | null {
  const all = batches.reduce((sum, { runs, rows }) => sum + runs * rows, 0);
  const places = new Int32Array(queries).fill(all);
  let first = 0;
  for (const [i, runs] of groups.entries()) {
    for (const { row, rowEnd } of runs) {
      for (let query = row; query < rowEnd; query++) places[query] = first + query - row;
      first += batches[i]!.rows;
    }
  }
  return isInOrder(places, all) ? null : places;
}

const isInOrder = (values: Int32Array, length: number): boolean =>
  values.length === length && values.every((value, i) => value === i);
