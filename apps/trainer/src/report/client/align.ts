import type { RunData, Series } from "../runData.ts";

/** Series of several runs over the steps of all of them. */
interface Aligned {
  readonly steps: readonly number[];
  /** A run's series at those steps, null where its bins begin at others. */
  readonly at: (run: RunData, series: Series | undefined) => Series;
}

/** Brings runs whose bins begin at different steps together. */
export function align(runs: readonly RunData[]): Aligned {
  const steps = [...new Set(runs.flatMap(({ from }) => from))].toSorted((a, b) => a - b);
  const places = new Map(runs.map((run) => [run, new Map(run.from.map((step, bin) => [step, bin]))]));
  return {
    steps,
    at: (run, series) => steps.map((step) => series?.[places.get(run)!.get(step) ?? -1] ?? null),
  };
}

/** Whether a series has a value. */
export const isKnown = (series: Series | undefined): series is Series =>
  series?.some((value) => value !== null) ?? false;
