import type { Clock } from "./clock.ts";

/** How a timer is made. */
export interface TimerOptions {
  /** Name of the timer's own lane, whose steps it reports; "main" unless given. */
  lane?: string;
  /** Throw on a call without a partner, at that call; for tests. Otherwise they are counted. */
  strict?: boolean;
  /** Measure every n-th step only, from the first; 1 unless given. */
  sampleEvery?: number;
  /** Let other threads attach this timer's recording, with `@dflash/timer/lanes`. */
  shared?: boolean;
  /** Monotonic clock in nanoseconds, for tests; with it `calibration` is all zeros. */
  clock?: Clock;
}
