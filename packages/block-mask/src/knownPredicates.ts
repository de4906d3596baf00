import { checkInteger, checkRowStarts } from "./checkArgument.ts";
import { dflashRowRanges, type DflashOptions } from "./dflashRowRanges.ts";
import { pushInterval, type KnownMaskPredicate, type MaskPredicate, type MaskSlice } from "./maskPredicate.ts";
import type { RowRanges } from "./rowRanges.ts";

/** A query sees the keys up to and including its own position. */
export const causal: KnownMaskPredicate = oneInterval(
  (query, key) => key <= query,
  (query, { kvLen }) => [0, Math.min(query + 1, kvLen), query + 1],
);

/** The query at position p sees the keys above p − window, later ones too: `and(causal, slidingWindow(w))` leaves w keys. */
export function slidingWindow(window: number): KnownMaskPredicate {
  checkInteger("window", window, 1);
  return oneInterval(
    (query, key) => query - key < window,
    (query, { kvLen }) => [Math.max(0, query - window + 1), kvLen, query + 1],
  );
}

/** Every query sees the first `length` keys: `or(causal, prefix(n))` is the mask of a prefix language model. */
export function prefix(length: number): KnownMaskPredicate {
  checkInteger("length", length, 0);
  return oneInterval(
    (_, key) => key < length,
    (_, { qLen, kvLen }) => [0, Math.min(length, kvLen), qLen],
  );
}

/** A query sees the keys of its own document: document d holds positions rowStarts[d] ≤ i < rowStarts[d + 1]; first 0, last the length. */
export function documents(rowStarts: Int32Array): KnownMaskPredicate {
  checkRowStarts("rowStarts", rowStarts);
  const length = rowStarts.at(-1)!;
  const documentOf = new Int32Array(length);
  for (let d = 0; d + 1 < rowStarts.length; d++) documentOf.fill(d, rowStarts[d], rowStarts[d + 1]);
  return oneInterval(
    (query, key) => documentOf[query] === documentOf[key],
    (query, { qLen, kvLen }) => {
      if (qLen > length) throw new RangeError(`qLen must be at most the end of rowStarts, ${length}, got ${qLen}`);
      if (kvLen > length) throw new RangeError(`kvLen must be at most the end of rowStarts, ${length}, got ${kvLen}`);
      const start = rowStarts[documentOf[query]!]!;
      const end = rowStarts[documentOf[query]! + 1]!;
      return [start, Math.min(end, kvLen), end];
    },
  );
}

/** The mask of a DFlash drafter, {@link dflashRowRanges}, over qLen = N·B queries and kvLen = S + N·B keys. */
export function dflash(options: DflashOptions): KnownMaskPredicate {
  return fromRowRanges(dflashRowRanges(options));
}

/** The mask that row ranges describe, for their lengths only. */
export function fromRowRanges({ queryLength, keyLength, bounds }: RowRanges): KnownMaskPredicate {
  const queryEnds = new Int32Array(queryLength);
  for (let query = queryLength - 1; query >= 0; query--) {
    queryEnds[query] = query + 1 < queryLength && sameRanges(bounds, query) ? queryEnds[query + 1]! : query + 1;
  }
  const visible: MaskPredicate = (query, key) => {
    const at = 4 * query;
    return (key >= bounds[at]! && key < bounds[at + 1]!) || (key >= bounds[at + 2]! && key < bounds[at + 3]!);
  };
  return Object.assign(visible, {
    seeKeys: (query, { qLen, kvLen }, seen) => {
      if (qLen !== queryLength)
        throw new RangeError(`qLen must be the row ranges' queryLength, ${queryLength}, got ${qLen}`);
      if (kvLen !== keyLength)
        throw new RangeError(`kvLen must be the row ranges' keyLength, ${keyLength}, got ${kvLen}`);
      const at = 4 * query;
      seen.count = 0;
      seen.queryEnd = queryEnds[query]!;
      pushInterval(seen, bounds[at]!, bounds[at + 1]!);
      pushInterval(seen, bounds[at + 2]!, bounds[at + 3]!);
    },
  } satisfies Pick<KnownMaskPredicate, "seeKeys">);
}

/** Whether the query and the one after it see the same keys. */
function sameRanges(bounds: Int32Array, query: number): boolean {
  const at = 4 * query;
  return (
    bounds[at] === bounds[at + 4] &&
    bounds[at + 1] === bounds[at + 5] &&
    bounds[at + 2] === bounds[at + 6] &&
    bounds[at + 3] === bounds[at + 7]
  );
}

/** A predicate that shows a query one interval of keys at most, given as [start, end, queryEnd]. */
function oneInterval(
  visible: MaskPredicate,
  interval: (query: number, slice: MaskSlice) => readonly [start: number, end: number, queryEnd: number],
): KnownMaskPredicate {
  return Object.assign(visible, {
    seeKeys: (query, slice, seen) => {
      const [start, end, queryEnd] = interval(query, slice);
      seen.count = 0;
      seen.queryEnd = queryEnd;
      pushInterval(seen, start, end);
    },
  } satisfies Pick<KnownMaskPredicate, "seeKeys">);
}
