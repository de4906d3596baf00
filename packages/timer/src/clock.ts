/** Reads a monotonic clock, nanoseconds; only differences have a meaning. */
export type Clock = () => bigint;

declare const process: { readonly hrtime?: { readonly bigint?: Clock } } | undefined;
declare const performance: { now(): number };

/** The finest monotonic clock here: `process.hrtime.bigint` where there is one, else `performance.now`. */
export function monotonicClock(): Clock {
  const fine = typeof process === "undefined" ? undefined : process.hrtime?.bigint;
  return fine ?? (() => BigInt(Math.round(performance.now() * 1e6)));
}

/** Measures one stretch of time after another without allocating. */
export interface Stopwatch {
  begin(): void;
  /** Nanoseconds since `begin`. */
  ns(): number;
}

/** Makes a stopwatch. */
export function createStopwatch(clock: Clock): Stopwatch {
  const times = new BigInt64Array(2);
  const words = new Uint32Array(times.buffer);
  return {
    begin() {
      times[0] = clock();
    },
    ns() {
      times[1] = clock();
      return (words[3]! - words[1]!) * 0x1_0000_0000 + words[2]! - words[0]!;
    },
  };
}
