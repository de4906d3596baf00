/** Learning rate by the number of updates done before, from 0. */
export type Schedule = (update: number) => number;

export interface WarmupCosineOptions {
  /** The highest rate. */
  readonly peak: number;
  /** Updates until the rate is 0. */
  readonly steps: number;
  /** Part of the steps that the rate rises in, rounded up; 0.04 unless given, as in the DFlash paper. */
  readonly warmupRatio?: number;
}

/** Linear rise to `peak`, then half a cosine down to 0. The first update has a rate above 0. */
export function warmupCosine({ peak, steps, warmupRatio = 0.04 }: WarmupCosineOptions): Schedule {
  const warmup = Math.ceil(steps * warmupRatio);
  return (update) => {
    if (update < warmup) return (peak * (update + 1)) / warmup;
    if (update >= steps) return 0;
    return (peak * (1 + Math.cos((Math.PI * (update - warmup)) / (steps - warmup)))) / 2;
  };
}
