import { causesAt, createCauseRing } from "../causes/causeRing.ts";
import { createRecording, placeOf, RECORDING_BYTES } from "../recording.ts";
import type { SharedTimer } from "./shareTimer.ts";
import { BOUNDARY, STREAMED, type StreamedTimer } from "./streamTimer.ts";

/** A timer of another process, as if it were one of another thread. */
export interface ReceivedTimer {
  /** To be handed to the thread that attaches it. */
  readonly timer: SharedTimer;
  /** Takes in bytes in the order in which they were sent, in pieces of any size. */
  write(bytes: Uint8Array): void;
}

/** Records what `streamTimer` sends in memory that other threads see. */
export function receiveTimer({ sections, causes }: StreamedTimer): ReceivedTimer {
  const buffer = new SharedArrayBuffer(RECORDING_BYTES);
  const ring = causes ? createCauseRing(true) : null;
  const { words } = createRecording(buffer);
  const causeWords = ring && new Uint32Array(ring.buffer);
  const message = new Uint32Array(2 * STREAMED);
  const pending = new Uint8Array(message.buffer);
  let filled = 0;
  let boundaries = 0;

  function take(): void {
    words.set(message.subarray(0, 2 * BOUNDARY), 2 * placeOf(boundaries));
    causeWords?.set(message.subarray(2 * BOUNDARY), 2 * causesAt(boundaries));
    boundaries = (boundaries + 1) | 0;
    Atomics.store(words, 0, boundaries);
  }

  return {
    timer: { buffer, causes: ring?.buffer ?? null, sections },
    write(bytes) {
      for (let at = 0; at < bytes.length;) {
        const piece = bytes.subarray(at, at + pending.length - filled);
        pending.set(piece, filled);
        at += piece.length;
        filled += piece.length;
        if (filled < pending.length) return;
        take();
        filled = 0;
      }
    },
  };
}
