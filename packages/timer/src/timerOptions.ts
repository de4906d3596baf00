import type { CauseProbe } from "./causes.ts";
import type { Clock } from "./clock.ts";

/** How a timer is made. */
export interface TimerOptions {
  /** Name of the timer's own lane, whose steps it reports; "main" unless given. */
  lane?: string;
  /** Throw on a call without a partner, at that call; for tests. Otherwise they are counted. */
  strict?: boolean;
  /** Measure every n-th step only, from the first; 1 unless given. */
  sampleEvery?: number;
  /** Where an engine's causes are read at every boundary. */
  probe?: CauseProbe;
  /** In every n-th step, from the first, wait for the device before a section stops, and mark the step `sync`; never unless given. */
  syncEvery?: number;
  /** Let other threads attach this timer's recording, with `@dflash/timer/threads`. */
  shared?: boolean;
  /** Monotonic clock in nanoseconds, for tests; with it `calibration` is all zeros. */
  clock?: Clock;
}

/** @throws RangeError on a `sampleEvery` or `syncEvery` that is no positive integer, and on a `syncEvery` when the probe can't block. */
export function checkOptions({ sampleEvery = 1, syncEvery, probe }: TimerOptions): void {
  for (const [name, value] of Object.entries({ sampleEvery, syncEvery: syncEvery ?? 1 }))
    if (!Number.isInteger(value) || value < 1)
      throw new RangeError(`createTimer: ${name} is ${value}; give a positive integer`);
  if (syncEvery !== undefined && !probe?.sync)
    throw new RangeError(
      "createTimer: syncEvery needs an engine that can block until its device is done; leave it out",
    );
}
