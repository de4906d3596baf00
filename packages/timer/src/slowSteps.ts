const WINDOW = 64;
/** Steps from one measurement of the window to the next, and before the first. */
const REFRESH = 32;
/** Steps from one slow step to the next that is told. */
const PAUSE = 100;
const MADS = 6;
/** Steps that hardly differ would make every small difference a slow step. */
const LEAST_SPREAD = 0.01;

/** Tells the steps that are slower than the median of the last 64 plus six times their median distance from it. */
export interface SlowSteps {
  /** As last measured, ns. */
  readonly median: number;
  readonly mad: number;
  /** Adds a step's ns; true when it is slow, at most once in 100 steps. */
  add(ns: number): boolean;
}

/** Judges from the 33rd step on; the window is measured anew every 32 steps. */
export function createSlowSteps(): SlowSteps {
  const recent = new Float64Array(WINDOW).fill(Infinity);
  const sorted = new Float64Array(WINDOW);
  /** Median, median distance, limit. */
  const measured = new Float64Array(3).fill(Infinity);
  let at = 0;
  let steps = 0;
  let pause = 0;

  function measure(): void {
    const middle = Math.min(steps, WINDOW) >> 1;
    sorted.set(recent);
    sorted.sort();
    const median = sorted[middle]!;
    for (let i = 0; i < WINDOW; i += 1) sorted[i] = Math.abs(recent[i]! - median);
    sorted.sort();
    const mad = sorted[middle]!;
    measured[0] = median;
    measured[1] = mad;
    measured[2] = median + MADS * Math.max(mad, LEAST_SPREAD * median);
  }

  return {
    get median() {
      return measured[0]!;
    },
    get mad() {
      return measured[1]!;
    },
    add(ns) {
      const isSlow = pause === 0 && ns > measured[2]!;
      pause = isSlow ? PAUSE : Math.max(0, pause - 1);
      recent[at] = ns;
      at = (at + 1) % WINDOW;
      steps = Math.min(steps + 1, WINDOW);
      if (at % REFRESH === 0) measure();
      return isSlow;
    },
  };
}
