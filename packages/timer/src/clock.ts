/** Reads a monotonic clock, nanoseconds; only differences have a meaning. */
export type Clock = () => bigint;

interface Host {
  process?: { hrtime?: { bigint?: Clock } };
  performance: { now(): number };
}

/** The finest monotonic clock here: `process.hrtime.bigint` where there is one, else `performance.now`. */
export function monotonicClock(): Clock {
  const { process, performance } = globalThis as unknown as Host;
  return process?.hrtime?.bigint ?? (() => BigInt(Math.round(performance.now() * 1e6)));
}
