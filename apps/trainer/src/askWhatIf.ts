import { type HeaderRecord, readLog, type StepRecord } from "@dflash/log-formatter";
import { logFileOf } from "./logFileOf.ts";
import { parseWhatIf, whatIf, whatIfLines } from "./whatIf.ts";

/** Prints how fast a run would have been with changes such as `target-workers=1,queue=4`. */
export async function askWhatIf(run: string, changes: string): Promise<void> {
  const parsed = parseWhatIf(changes);
  const { header, steps } = await readSteps(logFileOf(run));
  for (const line of whatIfLines(whatIf(header, steps, parsed), changes)) console.log(line);
}

/** The header of the last attempt and all steps. */
async function readSteps(path: string): Promise<{ header: HeaderRecord; steps: StepRecord[] }> {
  let header: HeaderRecord | undefined;
  const steps: StepRecord[] = [];
  for await (const record of readLog(path)) {
    if (record.kind === "header") header = record;
    if (record.kind === "step") steps.push(record);
  }
  if (!header) throw new Error(`${path}: no header, expected the log of a run`);
  return { header, steps };
}
