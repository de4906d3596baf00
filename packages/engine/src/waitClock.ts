/** How long something was waited for; waits that overlap count once. */
export interface WaitClock {
  /** Runs `wait`, which counts from its call until its promise settles. */
  readonly during: <T>(wait: () => Promise<T>) => Promise<T>;
  /** Total so far with what is under way, ms. */
  readonly ms: () => number;
}

/** Makes a clock at 0; `now` gives ms. */
export function createWaitClock(now: () => number = () => performance.now()): WaitClock {
  let waiting = 0;
  let since = 0;
  let total = 0;
  return {
    async during(wait) {
      if (waiting++ === 0) since = now();
      try {
        return await wait();
      } finally {
        if (--waiting === 0) total += now() - since;
      }
    },
    ms: () => (waiting === 0 ? total : total + now() - since),
  };
}
