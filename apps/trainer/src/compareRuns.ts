import { compareTimes, formatComparison, regressions } from "@dflash/log-formatter";
import { changedSettings } from "./changedSettings.ts";
import { readRunTimes } from "./readRunTimes.ts";

/** What two runs are compared for. */
export interface CompareRunsOptions {
  /** The run that was before. */
  baseline: string;
  /** Growth of a section's median that fails, 0.1 for ten percent; null never fails. */
  failOver: number | null;
}

/**
 * Prints section by section what is slower or faster in a run than in its baseline, and which settings differ.
 * Throws one line with the sections that became slower by more than `failOver`.
 */
export async function compareRuns(run: string, { baseline, failOver }: CompareRunsOptions): Promise<void> {
  const [before, after] = [await readRunTimes(baseline), await readRunTimes(run)];
  const changes = compareTimes(before.times, after.times);
  console.log(
    `${run} (after) against ${baseline} (before): median ± half the distance of the quartiles, warm-up aside`,
  );
  const differing = changedSettings(before.config, after.config);
  if (differing.length > 0) console.log(`the settings differ: ${differing.join(", ")}`);
  process.stdout.write(formatComparison(changes));
  const slower = failOver === null ? [] : regressions(changes, failOver);
  if (slower.length === 0) return;
  const named = slower.map(({ name, change }) => `${name} +${(100 * change!).toFixed(1)} %`).join(", ");
  throw new Error(`slower than ${baseline} by more than ${100 * failOver!} %: ${named}`);
}
