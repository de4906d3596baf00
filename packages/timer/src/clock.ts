/** Reads a monotonic clock, nanoseconds; only differences have a meaning. */
export type Clock = () => bigint;

interface Runtime {
  readonly performance: { now(): number };
  readonly process?: { readonly hrtime?: { readonly bigint?: Clock } };
}

/** The finest monotonic clock here: `process.hrtime.bigint` where there is one, else `performance.now`. */
export function monotonicClock(): Clock {
  const { performance, process }: Runtime = globalThis;
  return process?.hrtime?.bigint ?? (() => BigInt(Math.round(performance.now() * 1e6)));
}

/** Time of the boundary at a double of a recording, ns since an origin. */
export type TimeAt = (at: number) => number;

/** Reads a clock's 64 bits at any double of a buffer, without allocating. */
export function createTimeAt(words: Uint32Array, origin: bigint): TimeAt {
  const high = Number(origin >> 32n);
  const low = Number(origin & 0xffff_ffffn);
  return (at) => (words[at * 2 + 1]! - high) * 0x1_0000_0000 + words[at * 2]! - low;
}

/** Time since an origin, ns, without allocating. */
export function createNow(clock: Clock, origin: bigint): () => number {
  const times = new BigInt64Array(1);
  const timeAt = createTimeAt(new Uint32Array(times.buffer), origin);
  return () => {
    times[0] = clock();
    return timeAt(0);
  };
}
