import type { HeaderRecord, StepRecord } from "@dflash/log-formatter";
import { readRunLog } from "./readRunLog.ts";
import { parseWhatIf, whatIf, whatIfLines } from "./whatIf.ts";

/** Prints how fast a run would have been with changes such as `target-workers=1,queue=4`. */
export async function askWhatIf(run: string, changes: string): Promise<void> {
  const parsed = parseWhatIf(changes);
  const { header, steps } = await readSteps(run);
  for (const line of whatIfLines(whatIf(header, steps, parsed), changes)) console.log(line);
}

/** The header of the last attempt and all steps. */
async function readSteps(run: string): Promise<{ header: HeaderRecord; steps: StepRecord[] }> {
  let header: HeaderRecord | undefined;
  const steps: StepRecord[] = [];
  for await (const record of readRunLog(run)) {
    if (record.kind === "header") header = record;
    if (record.kind === "step") steps.push(record);
  }
  if (!header) throw new Error(`${run}: no header, expected the log of a run`);
  return { header, steps };
}
