import type { Timer } from "../timer.ts";
import { chargeLate, type Interval } from "./chargeLate.ts";

/** How the event loop is observed. */
export interface EventLoopOptions {
  /** Stalls shorter than this are not seen, ms; 10 unless given. */
  resolutionMs?: number;
}

const REMEMBERED = 1024;

/**
 * Charges stalls of the event loop to the waiting sections that they hit, as the late column `stallMs`: time in which other callbacks ran while a section with
 * the role `wait` could have gone on. Other sections block the loop with their own work, which is none.
 *
 * @returns a function that stops it.
 */
export function observeEventLoop(timer: Timer, { resolutionMs = 10 }: EventLoopOptions = {}): () => void {
  let stalls: Interval[] = [];
  let expectedMs = timer.now() + resolutionMs;

  /** Takes in the stall that ends now, if there is one. */
  function look(): void {
    const nowMs = timer.now();
    if (nowMs > expectedMs) stalls = [...stalls, { startMs: expectedMs, endMs: nowMs }].slice(-REMEMBERED);
    expectedMs = nowMs + resolutionMs;
  }

  const beat = setInterval(look, resolutionMs);
  beat.unref();
  const stop = chargeLate(
    timer,
    "stallMs",
    () => {
      look();
      return stalls;
    },
    (name) => timer.sections.some((section) => section.name === name && section.role === "wait"),
  );
  return () => {
    clearInterval(beat);
    stop();
  };
}
