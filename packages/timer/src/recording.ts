/** A ring of boundaries of sections. Each holds the clock's 64 bits, a code (`slot << 4 | kind`) and, with a probe, its causes. */
export interface Recording {
  readonly buffer: ArrayBufferLike;
  /** The first word is the number of boundaries written so far, for readers in other threads. */
  readonly words: Uint32Array;
  readonly floats: Float64Array;
  readonly times: BigInt64Array;
  /** Boundaries that the ring holds, a power of two. */
  readonly size: number;
  /** Doubles from one boundary to the next. */
  readonly stride: number;
}

/** Kinds of boundaries. */
export const START = 0;
export const STOP = 1;
/** Stop of an async call, which need not be the innermost. */
export const SETTLE = 2;
export const LAP = 3;
export const BEGIN = 4;
export const END = 5;
/** Work: the amount stands in place of the time, its unit in the word after the code. */
export const WORK = 6;
/** Boundaries of the step, in slot 0. */
export const STEP = 7;
export const STEP_END = 8;

/** Doubles before the ring. */
export const HEADER = 8;
/** Double of a boundary at which its causes begin, and how many they are. */
export const CAUSES = 2;
export const CAUSE_COUNT = 5;

const BYTES = 128 * 1024;

/** A recording in a new buffer, or over another thread's. */
export function createRecording(withCauses: boolean, buffer: ArrayBufferLike): Recording {
  const stride = withCauses ? 8 : 2;
  return {
    buffer,
    words: new Uint32Array(buffer),
    floats: new Float64Array(buffer),
    times: new BigInt64Array(buffer),
    size: BYTES / (stride * 8),
    stride,
  };
}

/** Bytes of a recording's buffer. */
export const RECORDING_BYTES: number = HEADER * 8 + BYTES;
