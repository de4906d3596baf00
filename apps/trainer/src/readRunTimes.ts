import { readLog, type RunTimes, sectionTimes } from "@dflash/log-formatter";
import { logFileOf } from "./logFileOf.ts";

/** How long the sections of a run took, from its log. Throws one line when there is nothing to compare with. */
export async function readRunTimes(run: string): Promise<RunTimes> {
  const times = await sectionTimes(readLog(logFileOf(run)));
  if (times.size === 0)
    throw new Error(`${run}: the log holds no step besides the first, so there is nothing to compare`);
  return times;
}
