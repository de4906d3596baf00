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
