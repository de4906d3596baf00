/** The batch element and head that are looked at, and the lengths of the mask. */
export interface MaskSlice {
  /** Batch element, from 0. */
  readonly batch: number;
  /** Head, from 0. */
  readonly head: number;
  /** Number of queries. */
  readonly qLen: number;
  /** Number of keys. */
  readonly kvLen: number;
}

/** The keys that a query and those after it up to `queryEnd` (exclusive) see. */
export interface SeenKeys {
  /** Ascending half-open intervals without overlap, start0, end0, start1, end1, …; what follows the first `count` numbers means nothing. */
  readonly bounds: number[];
  /** How many numbers of `bounds` are used, two an interval. */
  count: number;
  /** The first query that may see other keys, above the query asked for; may lie past the last query. */
  queryEnd: number;
}

/** Writes the keys that `query` sees into `seen`. */
export type SeeKeys = (query: number, slice: MaskSlice, seen: SeenKeys) => void;

/**
 * Whether a query may attend to a key: FlexAttention's mask_mod, with the indices in the order of use, so that
 * `(query, key) => query >= key` is one. With `seeKeys` it is a known predicate, and a mask is built from it by arithmetic;
 * without, every element is visited. The two must agree.
 */
export interface MaskPredicate {
  (query: number, key: number, batch: number, head: number): boolean;
  /** The same by arithmetic, for known predicates. */
  readonly seeKeys?: SeeKeys;
}

/** A predicate that can tell by arithmetic which keys a query sees. */
export interface KnownMaskPredicate extends MaskPredicate {
  /** Which keys a query sees, by arithmetic. */
  readonly seeKeys: SeeKeys;
}

/** Room for the keys that a query sees. */
export function createSeenKeys(): SeenKeys {
  return { bounds: [], count: 0, queryEnd: 0 };
}

/** Appends the interval [start, end) unless it is empty. */
export function pushInterval(seen: SeenKeys, start: number, end: number): void {
  if (start >= end) return;
  seen.bounds[seen.count++] = start;
  seen.bounds[seen.count++] = end;
}

/** How any predicate tells the keys that a query sees: by its own arithmetic, or else by visiting every key. */
export function seeKeysOf(predicate: MaskPredicate): SeeKeys {
  return (
    predicate.seeKeys ??
    ((query, { batch, head, kvLen }, seen) => {
      seen.count = 0;
      seen.queryEnd = query + 1;
      for (let key = 0; key < kvLen; key++) {
        const start = key;
        while (key < kvLen && predicate(query, key, batch, head)) key++;
        pushInterval(seen, start, key);
      }
    })
  );
}
