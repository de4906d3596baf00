import { dirname } from "node:path";
import { makeFolder } from "../makeFolder.ts";
import { readRunLog } from "../readRunLog.ts";
import { refuseToReplace } from "../refuseToReplace.ts";
import { writeWhole } from "../writeWhole.ts";
import { collectRun } from "./collectRun.ts";
import { bundlePage, pageBeginning, reportPage } from "./reportPage.ts";
import type { RunData } from "./runData.ts";

/** Reads the logs of one or two runs and writes their page, over an earlier one only. */
export async function writeReport(runs: readonly string[], path: string): Promise<void> {
  refuseToReplace("--out", path, pageBeginning);
  const data = await Promise.all(runs.map(readRun));
  const page = reportPage(await bundlePage(), { runs: data, live: false });
  await makeFolder("--out", dirname(path));
  writeWhole(path, page);
}

/** A run, as its log tells it. */
async function readRun(run: string): Promise<RunData> {
  const collector = collectRun();
  let last = 0;
  for await (const record of readRunLog(run)) {
    if (record.kind === "step") {
      if (record.step <= last)
        throw new Error(
          `${run}: step ${record.step} comes after step ${last}, expected them in order; give the log that one run wrote`,
        );
      last = record.step;
    }
    collector.add(record);
  }
  const data = collector.data();
  if (data === null) throw new Error(`${run}: no header, expected the log of a run`);
  return data;
}
