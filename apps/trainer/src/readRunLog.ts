import { type LogRecord, readLog, type ReadLogOptions } from "@dflash/log-formatter";
import { logFileOf } from "./logFileOf.ts";

/** Torn lines that are told one by one. */
const mostTold = 3;

/**
 * Reads the log of a run that is named by its folder, or by the file itself, and says on stderr what of it is left out.
 * @yields Its records.
 * @throws {Error} One line where the log can't be read, or no line of it is a record.
 */
export async function* readRunLog(
  run: string,
  { follow }: Pick<ReadLogOptions, "follow"> = {},
): AsyncGenerator<LogRecord> {
  const path = logFileOf(run);
  let torn = 0;
  let records = 0;
  const onTorn = (place: string): void => {
    if (torn++ < mostTold) console.error(`${place}: a torn line is left out`);
  };
  for await (const record of readLog(path, { onTorn, ...(follow && { follow }) })) {
    records++;
    yield record;
  }
  if (torn > mostTold) console.error(`${path}: ${torn - mostTold} more torn lines are left out`);
  if (records === 0 && torn > 0)
    throw new Error(`${path}: none of its ${torn} lines is a record; give the log.ndjson of a run`);
}
