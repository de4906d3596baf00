const WINDOW = 64;
/** Steps before the first judgement. */
const LEAST = 16;
/** Steps from one slow step to the next that is told. */
const PAUSE = 100;
const MADS = 6;

/** Tells a step that is slower than the median of the last 64 steps plus six times their median distance from it. */
export interface SlowSteps {
  readonly median: number;
  readonly mad: number;
  /** Adds a step, ns; true when it is slow, at most once in 100 steps. */
  add(ns: number): boolean;
}

/** Keeps the last steps in order of time and in order of size, so that a step costs no sort. */
export function createSlowSteps(): SlowSteps {
  const recent = new Float64Array(WINDOW);
  const sorted = new Float64Array(WINDOW);
  const center = new Float64Array(2);
  let count = 0;
  let pause = 0;

  function insert(ns: number): void {
    let size = Math.min(count, WINDOW);
    if (size === WINDOW) {
      size -= 1;
      for (let i = sorted.indexOf(recent[count % WINDOW]!); i < size; i += 1) sorted[i] = sorted[i + 1]!;
    }
    let at = size;
    for (; at > 0 && sorted[at - 1]! > ns; at -= 1) sorted[at] = sorted[at - 1]!;
    sorted[at] = ns;
    recent[count % WINDOW] = ns;
    count += 1;
  }

  /** The distances from the median grow outward from the middle on both sides: half of a merge finds the middle one. */
  function measure(): void {
    const size = Math.min(count, WINDOW);
    let high = size >> 1;
    let low = high - 1;
    const median = sorted[high]!;
    let distance = 0;
    for (let rank = 0; rank <= size >> 1; rank += 1) {
      const below = low < 0 ? Infinity : median - sorted[low]!;
      const above = high === size ? Infinity : sorted[high]! - median;
      distance = Math.min(below, above);
      if (below < above) low -= 1;
      else high += 1;
    }
    center[0] = median;
    center[1] = distance;
  }

  return {
    get median() {
      return center[0]!;
    },
    get mad() {
      return center[1]!;
    },
    add(ns) {
      if (count > 0) measure();
      const slow = count >= LEAST && pause === 0 && ns > center[0]! + MADS * center[1]!;
      pause = slow ? PAUSE : Math.max(0, pause - 1);
      insert(ns);
      return slow;
    },
  };
}
