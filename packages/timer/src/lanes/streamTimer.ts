import { causesAt, COLUMNS } from "../causes/causeRing.ts";
import { internalsOf } from "../internals.ts";
import { placeOf } from "../recording.ts";
import type { SectionInfo } from "../section.ts";
import type { Timer } from "../timer.ts";
import { closeSections } from "./shareTimer.ts";

/** Doubles of a boundary in a ring, and in a stream with the causes behind them. */
export const BOUNDARY = 2;
export const STREAMED: number = BOUNDARY + COLUMNS;

/** A timer whose boundaries are sent as they are recorded; to be told to the thread that receives them. */
export interface StreamedTimer {
  /** By slot, the step in slot 0. */
  readonly sections: readonly SectionInfo[];
  /** Whether an engine's totals come with every boundary. */
  readonly causes: boolean;
}

/**
 * Sends every boundary of a timer at once, for a process whose memory no other can see. `write` gets bytes that are only valid during
 * the call and should reach a thread that waits for nothing else, where `receiveTimer` takes them in. Both must run on one machine,
 * which has one clock. The timer takes no new sections afterwards.
 */
export function streamTimer(timer: Timer, write: (bytes: Uint8Array) => void): StreamedTimer {
  const internals = internalsOf(timer);
  const { recorder, causes } = internals;
  const { observe } = recorder;
  const { words } = recorder.recording;
  const causeWords = causes && new Uint32Array(causes.buffer);
  const message = new Uint32Array(2 * STREAMED);
  const bytes = new Uint8Array(message.buffer);
  let next = recorder.head;
  recorder.observe = (boundary) => {
    observe?.(boundary);
    // Work that was added since the last boundary goes first.
    for (; ((boundary - next) | 0) >= 0; next = (next + 1) | 0) {
      const [at, causeAt] = [2 * placeOf(next), 2 * causesAt(next)];
      message.set(words.subarray(at, at + 2 * BOUNDARY));
      if (causeWords) message.set(causeWords.subarray(causeAt, causeAt + 2 * COLUMNS), 2 * BOUNDARY);
      write(bytes);
    }
  };
  closeSections(internals, "streamTimer");
  return { sections: internals.infos, causes: causes !== undefined };
}
