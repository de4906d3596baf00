/** Learning rate by the number of updates done before, from 0. */
export type Schedule = (update: number) => number;

/** Settings of the schedules with a warm-up. */
export interface ScheduleOptions {
  /** The highest rate. */
  readonly peak: number;
  /** Updates of the whole run. */
  readonly steps: number;
  /** Part of the steps that the rate rises in, rounded up; 0.04 unless given, as in the DFlash paper. */
  readonly warmupRatio?: number;
  /** The rate after the last step, as a part of the peak; 0 unless given. */
  readonly floor?: number;
}

/** Settings of {@link warmupStableDecay}. */
export interface StableDecayOptions extends ScheduleOptions {
  /** Part of the steps that the rate falls in, rounded up; 0.2 unless given. */
  readonly decayRatio?: number;
}

/** Linear rise to the peak, then half a cosine down to the floor. */
export function warmupCosine(options: ScheduleOptions): Schedule {
  return warmup(options, (done) => (1 + Math.cos(Math.PI * done)) / 2);
}

/** Linear rise to the peak, then a straight line down to the floor. */
export function warmupLinear(options: ScheduleOptions): Schedule {
  return warmup(options, (done) => 1 - done);
}

/** Linear rise to the peak, which stays, also behind the last step. */
export function warmupConstant(options: Omit<ScheduleOptions, "floor">): Schedule {
  return warmup({ ...options, floor: 1 }, () => 1);
}

/** Linear rise to the peak, which stays until a straight line leads down to the floor (warm-up, stable, decay). */
export function warmupStableDecay({ decayRatio = 0.2, ...options }: StableDecayOptions): Schedule {
  checkRatio("decayRatio", decayRatio);
  const decay = Math.ceil(options.steps * decayRatio);
  return warmup(options, (_, left) => Math.min(1, left / decay));
}

/** @param shape Height between floor, 0, and peak, 1, by the part done of what follows the warm-up, and by the updates left. */
function warmup(options: ScheduleOptions, shape: (done: number, left: number) => number): Schedule {
  const { peak, steps, warmupRatio = 0.04, floor = 0 } = options;
  if (!(peak > 0)) throw new RangeError(`peak is ${peak}, expected a number above 0`);
  checkRatio("warmupRatio", warmupRatio);
  checkRatio("floor", floor);
  const rise = Math.ceil(steps * warmupRatio);
  return (update) => {
    if (update < rise) return (peak * (update + 1)) / rise;
    if (update >= steps) return peak * floor;
    return peak * (floor + (1 - floor) * shape((update - rise) / (steps - rise), steps - update));
  };
}

function checkRatio(name: string, ratio: number): void {
  if (!(ratio >= 0 && ratio <= 1)) throw new RangeError(`${name} is ${ratio}, expected a number from 0 to 1`);
}
