import { type LogRecord, type RunTimes, sectionTimes } from "@dflash/log-formatter";
import { readRunLog } from "./readRunLog.ts";

/** A run as others are compared with it. */
export interface TimedRun {
  /** How long its sections took. */
  readonly times: RunTimes;
  /** Settings of its last attempt; undefined where the log has none. */
  readonly config: unknown;
}

/** Times and settings of a run, from its log. Throws one line when there is nothing to compare with. */
export async function readRunTimes(run: string): Promise<TimedRun> {
  let config: unknown;
  async function* records(): AsyncGenerator<LogRecord> {
    for await (const record of readRunLog(run)) {
      if (record.kind === "header") ({ config } = record);
      yield record;
    }
  }
  const times = await sectionTimes(records());
  if (times.size === 0)
    throw new Error(`${run}: the log holds no step besides the first, so there is nothing to compare`);
  return { times, config };
}
