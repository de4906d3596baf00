/** A ring of boundaries of sections. Each holds the clock's 64 bits, a code (`slot << 4 | kind`) and a token. */
export interface Recording {
  /** The first word is the number of boundaries written so far, for readers in other threads. */
  readonly words: Uint32Array;
  readonly floats: Float64Array;
  readonly times: BigInt64Array;
}

/** Kinds of boundaries. */
export const START = 0;
export const STOP = 1;
/** Stop of an async call, which need not be the innermost. */
export const SETTLE = 2;
export const LAP = 3;
export const BEGIN = 4;
export const END = 5;
/** Work: the amount stands in place of the time, its unit in place of the token. */
export const WORK = 6;
/** Boundaries of the step, in slot 0. */
export const STEP = 7;
export const STEP_END = 8;

/** Boundaries that the ring holds, a power of two. */
export const SIZE = 4096;
/** Doubles before the ring. */
const HEADER = 8;
/** Bytes of a recording's buffer. */
export const RECORDING_BYTES: number = (HEADER + SIZE * 2) * 8;

/** Double of a boundary, by its number. */
export const placeOf = (boundary: number): number => HEADER + (boundary & (SIZE - 1)) * 2;

/** A recording in a buffer. */
export function createRecording(buffer: ArrayBufferLike): Recording {
  return { words: new Uint32Array(buffer), floats: new Float64Array(buffer), times: new BigInt64Array(buffer) };
}
