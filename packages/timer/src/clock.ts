/** Reads a monotonic clock, nanoseconds; only differences have a meaning. */
export type Clock = () => bigint;

declare const process: { readonly hrtime?: { readonly bigint?: Clock } } | undefined;
declare const performance: { now(): number };

/** The finest monotonic clock here: `process.hrtime.bigint` where there is one, else `performance.now`. */
export function monotonicClock(): Clock {
  const fine = typeof process === "undefined" ? undefined : process.hrtime?.bigint;
  return fine ?? (() => BigInt(Math.round(performance.now() * 1e6)));
}

/** Time since a reading of a clock, ns, without allocating. */
export function timeSince(clock: Clock, origin: bigint): () => number {
  const time = new BigInt64Array(1);
  const words = new Uint32Array(time.buffer);
  return () => {
    time[0] = clock() - origin;
    return words[1]! * 0x1_0000_0000 + words[0]!;
  };
}
