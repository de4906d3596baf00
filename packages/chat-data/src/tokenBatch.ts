/** Token rows of one batch, behind one another. */
export interface TokenBatch {
  /** Position of the batch in the run, from 0. */
  readonly index: number;
  /** Token ids of all rows, [T]. */
  readonly ids: Int32Array;
  /** 1 where the token is supervised, [T]. */
  readonly lossMask: Uint8Array;
  /** Row boundaries: row r holds tokens rowStarts[r] ≤ t < rowStarts[r + 1]; length rows + 1, first 0, last T. */
  readonly rowStarts: Int32Array;
}

/** Tokens of one record. */
export interface TokenRow {
  /** Token ids. */
  readonly ids: Int32Array;
  /** 1 where the token is supervised, as long as `ids`. */
  readonly lossMask: Uint8Array;
}

/** Rows that make one batch, each filled up on its right with padding to its length there. */
export interface RowGroup<Row extends TokenRow = TokenRow> {
  readonly rows: readonly Row[];
  /** Length of each row in the batch, at least its own. */
  readonly lengths: readonly number[];
}

/** Puts rows behind one another. Padding is never supervised. */
export function toTokenBatch(index: number, { rows, lengths }: RowGroup, padId: number): TokenBatch {
  const rowStarts = new Int32Array(rows.length + 1);
  for (const [r, length] of lengths.entries()) rowStarts[r + 1] = rowStarts[r]! + length;
  const ids = new Int32Array(rowStarts[rows.length]!).fill(padId);
  const lossMask = new Uint8Array(ids.length);
  for (const [r, row] of rows.entries()) {
    ids.set(row.ids, rowStarts[r]);
    lossMask.set(row.lossMask, rowStarts[r]);
  }
  return { index, ids, lossMask, rowStarts };
}
