import { PerformanceObserver } from "node:perf_hooks";
import type { Timer } from "../timer.ts";
import { chargeLate, type Interval } from "./chargeLate.ts";

/** Collections that are remembered; a step's are charged soon after it. */
const REMEMBERED = 1024;

/**
 * Charges garbage collections to the sections that they interrupted, as the late column `gcMs`, also when the event loop never turns during a step.
 *
 * @returns a function that stops it.
 */
export function observeGc(timer: Timer): () => void {
  const offsetMs = performance.now() - timer.now();
  let collections: Interval[] = [];
  const observer = new PerformanceObserver((list) => {
    const seen = list
      .getEntries()
      .map(({ startTime, duration }) => ({ startMs: startTime - offsetMs, endMs: startTime + duration - offsetMs }));
    collections = [...collections, ...seen].slice(-REMEMBERED);
  });
  observer.observe({ entryTypes: ["gc"] });
  const stop = chargeLate(
    timer,
    "gcMs",
    () => collections,
    () => true,
  );
  return () => {
    observer.disconnect();
    stop();
  };
}
