import { existsSync } from "node:fs";
import { type LogRecord, readLog } from "@dflash/log-formatter";

/**
 * What a log holds of the attempts before, without the steps that are done again.
 * @yields Its records; none where there is no log.
 */
export async function* earlierRecords(path: string, stepsBefore: number): AsyncGenerator<LogRecord> {
  if (!existsSync(path)) return;
  for await (const record of readLog(path)) if (!("step" in record) || record.step <= stepsBefore) yield record;
}
