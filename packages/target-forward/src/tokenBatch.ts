/** Token rows of one batch, behind one another without padding. */
export interface TokenBatch {
  /** Position of the batch in the run, from 0. */
  readonly index: number;
  /** Token ids of all rows, [T]. */
  readonly ids: Int32Array;
  /** 1 where the token is supervised, [T]. */
  readonly lossMask: Uint8Array;
  /** Row boundaries: row r holds tokens rowStarts[r] ≤ t < rowStarts[r + 1]; length rows + 1, first 0, last T. */
  readonly rowStarts: Int32Array;
  /** Record of each row in the data, from 0; needed where hidden states are files. */
  readonly records?: Int32Array;
}
