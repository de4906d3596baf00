/** Distribution of a time per step, ms; percentiles within 1.6 % from 1 µs to an hour. */
export interface Distribution {
  /** Steps in which it ran. */
  readonly n: number;
  /** Steps in which it did not. */
  readonly missing: number;
  /** Time in all of them. */
  readonly sumMs: number;
  /** Null when it never ran, as all that follow. */
  readonly p50Ms: number | null;
  /** 90th percentile. */
  readonly p90Ms: number | null;
  /** 99th percentile. */
  readonly p99Ms: number | null;
  /** The longest. */
  readonly maxMs: number | null;
}

const OCTAVES = 32;
const PER_OCTAVE = 32;
const BINS = OCTAVES * PER_OCTAVE;
/** Exponent bits of 1.0, in units of bins. */
const BIAS = 1023 * PER_OCTAVE;

const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);

/** Log-linear histogram of times from 1 µs to over an hour (2^32 µs), 4 KiB: percentiles within 1.6 %, the maximum exact. */
export interface Histogram {
  readonly bins: Uint32Array;
  /** Count, sum and maximum, ns. */
  readonly moments: Float64Array;
}

/** An empty histogram. */
export function createHistogram(): Histogram {
  return { bins: new Uint32Array(BINS), moments: new Float64Array(3) };
}

/** Counts the time at a place of an array, ns; a number that is passed along may be boxed. The bin is read off the bits of the number: its exponent and the top five bits of its mantissa. */
export function recordTime({ bins, moments }: Histogram, times: Float64Array, at: number): void {
  const ns = times[at]!;
  double[0] = ns / 1000;
  const bin = (halves[1]! >>> 15) - BIAS;
  bins[bin < 0 ? 0 : bin < BINS ? bin : BINS - 1]! += 1;
  moments[0]! += 1;
  moments[1]! += ns;
  if (ns > moments[2]!) moments[2] = ns;
}

/** Adds what `from` has counted to `into`, and returns that. */
export function addTimes(from: Histogram, into: Histogram): Histogram {
  for (let bin = 0; bin < BINS; bin += 1) into.bins[bin]! += from.bins[bin]!;
  into.moments[0]! += from.moments[0]!;
  into.moments[1]! += from.moments[1]!;
  into.moments[2] = Math.max(into.moments[2]!, from.moments[2]!);
  return into;
}

/** What a histogram of `steps` steps holds. */
export function describe(histogram: Histogram, steps: number): Distribution {
  const [n = 0, sum = 0, max = 0] = histogram.moments;
  const at = (quantile: number): number | null =>
    n === 0 ? null : Math.min(percentile(histogram.bins, Math.ceil(quantile * n)), max) / 1e6;
  return {
    n,
    missing: steps - n,
    sumMs: sum / 1e6,
    p50Ms: at(0.5),
    p90Ms: at(0.9),
    p99Ms: at(0.99),
    maxMs: n === 0 ? null : max / 1e6,
  };
}

/** Middle of the bin that holds the value of this rank (from 1), ns. */
function percentile(bins: Uint32Array, rank: number): number {
  let bin = 0;
  for (let seen = bins[0]!; seen < rank; seen += bins[bin]!) bin += 1;
  const octave = Math.floor(bin / PER_OCTAVE);
  return 1000 * 2 ** octave * (1 + ((bin % PER_OCTAVE) + 0.5) / PER_OCTAVE);
}
