import type { CachePlaces, KeyValueCache } from "@dflash/ops";
import type { CachedTokens } from "@dflash/target-forward";
import type { TokenPlaces } from "./tokenPlaces.ts";

/** The new tokens of all rows behind one another. */
export interface CachedPlaces extends TokenPlaces {
  /** [T] */
  readonly ids: Int32Array;
  /** Where the cache keeps them. */
  readonly kept: CachePlaces;
}

/**
 * Where new tokens stand in the cache, and that each sees its row up to itself. Throws where a row has no token, one that isn't
 * in the vocabulary, or a sequence of another cache.
 */
export function cachedPlaces(cache: KeyValueCache, rows: readonly CachedTokens[], vocabSize: number): CachedPlaces {
  for (const [row, { ids }] of rows.entries()) {
    if (ids.length === 0) throw new RangeError(`extend: row ${row} has no new token, expected at least 1`);
    const outside = ids.find((id) => id < 0 || id >= vocabSize);
    if (outside !== undefined)
      throw new RangeError(`extend: row ${row} holds id ${outside}, expected 0 to ${vocabSize - 1}`);
  }
  const kept = cache.place(rows.map(({ ids, cache: sequence }) => ({ sequence, count: ids.length })));
  const { positions, keyLength, starts } = kept;
  const ids = new Int32Array(positions.length);
  const bounds = new Int32Array(4 * positions.length);
  let token = 0;
  for (const [row, { ids: own }] of rows.entries()) {
    ids.set(own, token);
    for (let i = 0; i < own.length; i++, token++) {
      const end = starts[row]! + positions[token]! + 1;
      bounds.set([starts[row]!, end, end, end], 4 * token);
    }
  }
  const longestRow = 1 + positions.reduce((last, position) => Math.max(last, position), 0);
  return { ids, kept, positions, ranges: { queryLength: positions.length, keyLength, bounds }, longestRow };
}
