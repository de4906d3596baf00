import type { RowRanges } from "./rowRanges.ts";

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
