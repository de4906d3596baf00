import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { readLog, type HeaderRecord, type StepRecord } from "@dflash/log-formatter";
import { Command } from "commander";
import { fromCaller } from "../callerFolder.ts";
import { parseWhatIf, whatIf, whatIfLines } from "../whatIf.ts";

/** `dflash log`: what a run's log says about another run. */
export function logCommand(): Command {
  return new Command("log")
    .description("ask a run's log how fast the run would be under other settings")
    .argument("<run>", "folder of a run, or its log.ndjson")
    .requiredOption("--what-if <changes>", "target-workers=N, queue=N, min-ready=N, cores=N, separated by commas")
    .addHelpText("after", "\nExample:\n  pnpm dflash log runs/first --what-if target-workers=1,queue=4")
    .action(async (run: string, { whatIf: asked }: { whatIf: string }) => {
      const changes = parseWhatIf(asked);
      const { header, steps } = await readSteps(logOf(fromCaller(run)));
      for (const line of whatIfLines(whatIf(header, steps, changes), asked)) console.log(line);
    });
}

/** The log of a run's folder, or the file itself. */
function logOf(path: string): string {
  if (!existsSync(path)) throw new Error(`${path}: no such run; give the folder of a run, or its log.ndjson`);
  return statSync(path).isDirectory() ? join(path, "log.ndjson") : path;
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
