/** Sub-buckets per power of two: a bucket is at most 1/32 (3.1 %) of its lower bound wide. */
const subBuckets = 32;
/** 1 ns to 2^53 ns (104 days): octaves 5..52, and below 32 ns one bucket a nanosecond. */
const buckets = subBuckets * 49;

/** Counts durations in bounded memory (6.3 KB each), so that percentiles need no samples. */
export interface LogLinearHistogram {
  /** Adds a duration in milliseconds, not negative. */
  add(ms: number): void;
  /** The duration that the share `q` (0 to 1) of all stays within: at most 3.2 % off; NaN while empty. */
  percentile(q: number): number;
  readonly count: number;
  readonly sum: number;
  readonly max: number;
}

function bucketOf(ns: number): number {
  if (ns < subBuckets) return ns;
  const octave = Math.floor(Math.log2(ns));
  return (octave - 4) * subBuckets + Math.floor(ns / 2 ** (octave - 5)) - subBuckets;
}

/** Middle of a bucket, in nanoseconds. */
function middleOf(bucket: number): number {
  if (bucket < subBuckets) return bucket;
  const octave = Math.floor(bucket / subBuckets) + 4;
  return ((bucket % subBuckets) + subBuckets + 0.5) * 2 ** (octave - 5);
}

/** An empty histogram. */
export function createLogLinearHistogram(): LogLinearHistogram {
  const counts = new Uint32Array(buckets);
  let count = 0;
  let sum = 0;
  let min = Infinity;
  let max = 0;
  return {
    add(ms) {
      const ns = Math.min(Math.max(Math.round(ms * 1e6), 0), Number.MAX_SAFE_INTEGER);
      counts[bucketOf(ns)]!++;
      count++;
      sum += ms;
      min = Math.min(min, ms);
      max = Math.max(max, ms);
    },
    percentile(q) {
      const rank = Math.max(1, Math.ceil(q * count));
      let seen = 0;
      for (let bucket = 0; bucket < buckets; bucket++) {
        seen += counts[bucket]!;
        if (seen >= rank) return Math.min(Math.max(middleOf(bucket) / 1e6, min), max);
      }
      return NaN;
    },
    get count() {
      return count;
    },
    get sum() {
      return sum;
    },
    get max() {
      return max;
    },
  };
}
