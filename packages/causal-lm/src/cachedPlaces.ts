import type { CachedTokens } from "@dflash/target-forward";
import type { TokenPlaces } from "./tokenPlaces.ts";

/** The new tokens of all rows behind one another. */
export interface CachedPlaces extends TokenPlaces {
  /** [T] */
  readonly ids: Int32Array;
  /** Boundaries of the rows among them. */
  readonly rowStarts: Int32Array;
}

/**
 * Where new tokens stand, and that each sees its row up to itself, of keys in the order [cached of row 0 | new of row 0 | cached
 * of row 1 | …]. Throws a RangeError where a row has no token or one that isn't in the vocabulary.
 */
export function cachedPlaces(rows: readonly CachedTokens[], vocabSize: number): CachedPlaces {
  const rowStarts = new Int32Array(rows.length + 1);
  for (const [row, { ids }] of rows.entries()) {
    if (ids.length === 0) throw new RangeError(`extend: row ${row} has no new token, expected at least 1`);
    const outside = ids.find((id) => id < 0 || id >= vocabSize);
    if (outside !== undefined)
      throw new RangeError(`extend: row ${row} holds id ${outside}, expected 0 to ${vocabSize - 1}`);
    rowStarts[row + 1] = rowStarts[row]! + ids.length;
  }
  const tokens = rowStarts.at(-1)!;
  const ids = new Int32Array(tokens);
  const positions = new Int32Array(tokens);
  const bounds = new Int32Array(4 * tokens);
  let keyLength = 0;
  let longestRow = 0;
  for (const [row, { ids: own, cache }] of rows.entries()) {
    ids.set(own, rowStarts[row]);
    for (let i = 0; i < own.length; i++) {
      const token = rowStarts[row]! + i;
      positions[token] = cache.length + i;
      const end = keyLength + cache.length + i + 1;
      bounds.set([keyLength, end, end, end], 4 * token);
    }
    keyLength += cache.length + own.length;
    longestRow = Math.max(longestRow, cache.length + own.length);
  }
  return { ids, rowStarts, positions, ranges: { queryLength: tokens, keyLength, bounds }, longestRow };
}
