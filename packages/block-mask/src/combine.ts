import { checkedIndex } from "./checkArgument.ts";
import {
  createSeenKeys,
  pushInterval,
  type KnownMaskPredicate,
  type MaskPredicate,
  type SeeKeys,
} from "./maskPredicate.ts";

/** What all of the predicates let through; with none, everything. Known if all are. */
export function and(...predicates: KnownMaskPredicate[]): KnownMaskPredicate;
export function and(...predicates: MaskPredicate[]): MaskPredicate;
export function and(...predicates: MaskPredicate[]): MaskPredicate {
  return combine(
    predicates,
    (query, key, batch, head) => predicates.every((p) => p(query, key, batch, head)),
    intersection,
  );
}

/** What any of the predicates lets through; with none, nothing. Known if all are. */
export function or(...predicates: KnownMaskPredicate[]): KnownMaskPredicate;
export function or(...predicates: MaskPredicate[]): MaskPredicate;
export function or(...predicates: MaskPredicate[]): MaskPredicate {
  return not(and(...predicates.map((p) => not(p))));
}

/** What the predicate keeps out. Known if it is. */
export function not(predicate: KnownMaskPredicate): KnownMaskPredicate;
export function not(predicate: MaskPredicate): MaskPredicate;
export function not(predicate: MaskPredicate): MaskPredicate {
  return combine(
    [predicate],
    (query, key, batch, head) => !predicate(query, key, batch, head),
    ([seeKeys]) => complement(seeKeys!),
  );
}

/** A predicate for each batch element, for a mask with `batch` of as many. Known if all are. */
export function perBatch(...predicates: KnownMaskPredicate[]): KnownMaskPredicate;
export function perBatch(...predicates: MaskPredicate[]): MaskPredicate;
export function perBatch(...predicates: MaskPredicate[]): MaskPredicate {
  const at = (batch: number): number => checkedIndex("batch", batch, predicates.length);
  return combine(
    predicates,
    (query, key, batch, head) => predicates[at(batch)]!(query, key, batch, head),
    (parts) => (query, slice, seen) => parts[at(slice.batch)]!(query, slice, seen),
  );
}

/** A predicate for each head, for a mask with `heads` of as many. Known if all are. */
export function perHead(...predicates: KnownMaskPredicate[]): KnownMaskPredicate;
export function perHead(...predicates: MaskPredicate[]): MaskPredicate;
export function perHead(...predicates: MaskPredicate[]): MaskPredicate {
  const at = (head: number): number => checkedIndex("head", head, predicates.length);
  return combine(
    predicates,
    (query, key, batch, head) => predicates[at(head)]!(query, key, batch, head),
    (parts) => (query, slice, seen) => parts[at(slice.head)]!(query, slice, seen),
  );
}

function combine(
  predicates: readonly MaskPredicate[],
  combined: MaskPredicate,
  combineSeeKeys: (parts: readonly SeeKeys[]) => SeeKeys,
): MaskPredicate {
  const parts = predicates.map((p) => p.seeKeys).filter((part) => part !== undefined);
  return parts.length < predicates.length ? combined : Object.assign(combined, { seeKeys: combineSeeKeys(parts) });
}

/** The keys that all of the parts see: one part after the other is cut out of what is left. */
function intersection(parts: readonly SeeKeys[]): SeeKeys {
  const left = createSeenKeys();
  const part = createSeenKeys();
  return (query, slice, seen) => {
    seen.count = 0;
    seen.queryEnd = slice.qLen;
    pushInterval(seen, 0, slice.kvLen);
    for (const seeKeys of parts) {
      left.count = seen.count;
      for (let i = 0; i < seen.count; i++) left.bounds[i] = seen.bounds[i]!;
      seeKeys(query, slice, part);
      seen.count = 0;
      seen.queryEnd = Math.min(seen.queryEnd, part.queryEnd);
      for (let i = 0, j = 0; i < left.count && j < part.count;) {
        const end = Math.min(left.bounds[i + 1]!, part.bounds[j + 1]!);
        pushInterval(seen, Math.max(left.bounds[i]!, part.bounds[j]!), end);
        if (left.bounds[i + 1] === end) i += 2;
        else j += 2;
      }
    }
  };
}

/** The keys that are not seen: the gaps before, between and behind the intervals. */
function complement(seeKeys: SeeKeys): SeeKeys {
  const part = createSeenKeys();
  return (query, slice, seen) => {
    seeKeys(query, slice, part);
    seen.count = 0;
    seen.queryEnd = part.queryEnd;
    let start = 0;
    for (let i = 0; i < part.count; i += 2) {
      pushInterval(seen, start, part.bounds[i]!);
      start = part.bounds[i + 1]!;
    }
    pushInterval(seen, start, slice.kvLen);
  };
}
