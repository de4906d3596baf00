import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { readLog } from "@dflash/log-formatter";
import { logFileOf } from "../logFileOf.ts";
import { makeFolder } from "../makeFolder.ts";
import { collectRun } from "./collectRun.ts";
import { bundlePage, reportPage } from "./reportPage.ts";
import type { RunData } from "./runData.ts";

/** Reads the logs of one or two runs and writes their page. */
export async function writeReport(runs: readonly string[], path: string): Promise<void> {
  const data = await Promise.all(runs.map(readRun));
  const page = reportPage(await bundlePage(), { runs: data, live: false });
  await makeFolder("--out", dirname(path));
  await writeFile(path, page);
}

/** A run, as its log tells it. */
async function readRun(run: string): Promise<RunData> {
  const path = logFileOf(run);
  const collector = collectRun();
  for await (const record of readLog(path)) collector.add(record);
  const data = collector.data();
  if (data === null) throw new Error(`${path}: no header, expected the log of a run`);
  return data;
}
