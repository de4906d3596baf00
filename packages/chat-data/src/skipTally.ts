/** Records that were left out for one reason. */
export interface SkipReason {
  /** Why, in one line. */
  readonly reason: string;
  /** How many were left out for it. */
  readonly count: number;
  /** File and line of the first of them. */
  readonly first: string;
}

/** Counts left-out records by reason. */
export interface SkipTally {
  add(reason: string, place: string): void;
  /** The reasons, most frequent first. */
  reasons(): SkipReason[];
}

/** Reasons told apart. A damaged file may have as many as lines. */
const maxReasons = 20;

export function createSkipTally(): SkipTally {
  const tally = new Map<string, { count: number; first: string }>();
  return {
    add(reason, place) {
      const key = tally.has(reason) || tally.size < maxReasons ? reason : "other reasons";
      const entry = tally.get(key);
      if (entry === undefined) tally.set(key, { count: 1, first: place });
      else entry.count++;
    },
    reasons: () => [...tally].map(([reason, entry]) => ({ reason, ...entry })).toSorted((a, b) => b.count - a.count),
  };
}
