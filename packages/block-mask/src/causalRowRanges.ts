import { checkInteger, checkRowStarts } from "./checkArgument.ts";
import type { RowRanges } from "./rowRanges.ts";

/** The rows of a causal mask. */
export interface CausalRowRangesOptions {
  /** Boundaries of the rows (documents) packed behind one another: row r holds positions rowStarts[r] ≤ i < rowStarts[r + 1]; first 0, last the length T. */
  readonly rowStarts: Int32Array;
  /** Keys of a cache that stand before the first row, all of them seen by it; 0 unless given, and one row only where it is not. */
  readonly cachedLength?: number;
  /** A query at position p sees keys above p − slidingWindow only; all earlier ones unless given. */
  readonly slidingWindow?: number;
}

/**
 * The causal mask of packed rows: query i sees the keys from the start of its row up to and including its own.
 * Q = T queries and K = cachedLength + T keys. Throws a RangeError that names the argument.
 */
export function causalRowRanges({
  rowStarts,
  cachedLength = 0,
  slidingWindow = Infinity,
}: CausalRowRangesOptions): RowRanges {
  checkRowStarts("rowStarts", rowStarts);
  checkInteger("cachedLength", cachedLength, 0);
  if (slidingWindow !== Infinity) checkInteger("slidingWindow", slidingWindow, 1);
  if (cachedLength > 0 && rowStarts.length > 2) {
    throw new RangeError(
      `cachedLength must be 0 with more than one row, got ${cachedLength} with ${rowStarts.length - 1} rows`,
    );
  }
  const queryLength = rowStarts.at(-1)!;
  const keyLength = cachedLength + queryLength;
  const bounds = new Int32Array(4 * queryLength);
  for (let row = 0, at = 0; row + 1 < rowStarts.length; row++) {
    const first = rowStarts[row]!;
    const end = rowStarts[row + 1]!;
    for (let query = first; query < end; query++) {
      const seen = cachedLength + query + 1;
      bounds[at++] = Math.max(first, seen - slidingWindow);
      bounds[at++] = seen;
      bounds[at++] = seen;
      bounds[at++] = seen;
    }
  }
  return { queryLength, keyLength, bounds };
}
