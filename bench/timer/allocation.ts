import { createTimer } from "@dflash/timer";
import { createStatistics } from "@dflash/timer/statistics";

/** Bytes. */
export interface Allocation {
  readonly perSection: number;
  readonly perStep: number;
  /** Held by a timer with 32 sections and their histograms. */
  readonly timer: number;
}

const SECTIONS = 1_000_000;

/** Heap growth over a million sections and over the steps around them, while nobody reads a report; needs --expose-gc. */
export function measureAllocation(): Allocation {
  const before = held();
  const timer = createTimer();
  const statistics = createStatistics(timer);
  const sections = Array.from({ length: 32 }, (_, i) => timer.section(`section ${i}`));
  timer.step(() => sections[0]!.time(() => {}));
  const size = held() - before;

  const section = sections[0]!;
  const body = (): void => {
    section.start();
    section.stop();
  };
  const steps = grow(() => {
    for (let i = 0; i < SECTIONS / 10; i += 1) timer.step(body);
  });
  const bare = grow(() => {
    for (let i = 0; i < SECTIONS; i += 1) {
      section.start();
      section.stop();
    }
  });
  statistics.stop();
  return { perSection: bare / SECTIONS, perStep: steps / (SECTIONS / 10), timer: size };
}

/** Bytes held after collection. */
function held(): number {
  globalThis.gc!();
  globalThis.gc!();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Heap growth of a run after some that let the code be optimised. */
function grow(run: () => void): number {
  for (let i = 0; i < 3; i += 1) run();
  globalThis.gc!();
  const from = process.memoryUsage().heapUsed;
  run();
  return process.memoryUsage().heapUsed - from;
}
