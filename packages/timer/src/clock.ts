import { createRecording } from "./recording.ts";

/** Reads a monotonic clock, nanoseconds; only differences have a meaning. */
export type Clock = () => bigint;

interface Runtime {
  readonly performance: { now(): number };
  readonly process?: { readonly hrtime?: { readonly bigint?: Clock } };
}
declare const performance: Runtime["performance"];

/** The finest monotonic clock here: `process.hrtime.bigint` where there is one, else `performance.now`. */
export function monotonicClock(): Clock {
  const runtime: Runtime = globalThis;
  return runtime.process?.hrtime?.bigint ?? (() => BigInt(Math.round(performance.now() * 1e6)));
}

/** Time of the boundary at a double of a recording, ns since an origin. */
export type TimeAt = (at: number) => number;

/** Reads a clock's 64 bits at any double of a buffer. */
export function createTimeAt(words: Uint32Array, origin: bigint): TimeAt {
  const high = Number(origin >> 32n);
  const low = Number(origin & 0xffff_ffffn);
  return (at) => (words[at * 2 + 1]! - high) * 0x1_0000_0000 + words[at * 2]! - low;
}

/** Time since an origin, ns, always in the same array; spelled out, since the number that a function returns may be boxed. */
export function createNow(clock: Clock, origin: bigint): () => Float64Array {
  const { words, floats, times } = createRecording(new ArrayBuffer(8));
  const high = Number(origin >> 32n);
  const low = Number(origin & 0xffff_ffffn);
  return () => {
    times[0] = clock();
    floats[0] = (words[1]! - high) * 0x1_0000_0000 + words[0]! - low;
    return floats;
  };
}
