import { checkInteger } from "./checkArgument.ts";
import { createSeenKeys, seeKeysOf, type MaskPredicate } from "./maskPredicate.ts";

/**
 * The keys that each query may attend to, as at most two half-open intervals a query.
 * Exact for causal, sliding-window, document and DFlash masks; block-sparse masks derive from it, and masked attention
 * computes from it without a dense mask.
 */
export interface RowRanges {
  /** Number of query rows, Q. */
  readonly queryLength: number;
  /** Number of keys, K. */
  readonly keyLength: number;
  /**
   * `[start0, end0, start1, end1]` for each query, length 4·Q, with 0 ≤ start0 ≤ end0 ≤ start1 ≤ end1 ≤ K.
   * An empty interval has start = end; a query with two empty intervals attends to nothing and its output is 0.
   */
  readonly bounds: Int32Array;
}

/** The mask element by element, 1 where query q sees key k, at q·K + k; length Q·K. For tests and pictures: it is as large as the score matrix. */
export function denseFromRowRanges({ queryLength, keyLength, bounds }: RowRanges): Uint8Array {
  const dense = new Uint8Array(queryLength * keyLength);
  for (let query = 0; query < queryLength; query++) {
    const row = dense.subarray(query * keyLength, (query + 1) * keyLength);
    row.fill(1, bounds[4 * query], bounds[4 * query + 1]);
    row.fill(1, bounds[4 * query + 2], bounds[4 * query + 3]);
  }
  return dense;
}

/** The extent of a mask. */
export interface ToRowRangesOptions {
  /** Number of queries, Q. */
  readonly qLen: number;
  /** Number of keys, K. */
  readonly kvLen: number;
}

/** The row ranges of a predicate, for batch element 0 and head 0. Throws a RangeError where a query sees more than two intervals of keys. */
export function toRowRanges(predicate: MaskPredicate, { qLen, kvLen }: ToRowRangesOptions): RowRanges {
  checkInteger("qLen", qLen, 0);
  checkInteger("kvLen", kvLen, 0);
  const seeKeys = seeKeysOf(predicate);
  const slice = { batch: 0, head: 0, qLen, kvLen };
  const seen = createSeenKeys();
  const bounds = new Int32Array(4 * qLen);
  for (let query = 0; query < qLen; query++) {
    seeKeys(query, slice, seen);
    if (seen.count > 4) {
      throw new RangeError(
        `predicate must show a query at most 2 intervals of keys, got ${seen.count / 2} for query ${query}`,
      );
    }
    const [start0 = 0, end0 = start0, start1 = end0, end1 = start1] = seen.bounds.slice(0, seen.count);
    bounds.set([start0, end0, start1, end1], 4 * query);
  }
  return { queryLength: qLen, keyLength: kvLen, bounds };
}
