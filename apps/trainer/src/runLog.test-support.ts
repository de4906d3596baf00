import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LogRecord, StepRecord } from "@dflash/log-formatter";

/** The records of an NDJSON text, without those that come whenever something is known late. */
export function parseLog(text: string): LogRecord[] {
  const lines = text.trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as LogRecord).filter(({ kind }) => kind !== "late");
}

/** The records of a run's log. */
export const readLog = (folder: string): LogRecord[] => parseLog(readFileSync(join(folder, "log.ndjson"), "utf8"));

/** The steps among them. */
export const steps = (records: LogRecord[]): StepRecord[] => records.filter((record) => record.kind === "step");
