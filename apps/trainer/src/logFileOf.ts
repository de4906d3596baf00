import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { forCaller, fromCaller } from "./callerFolder.ts";

/** The log of a run that is named by its folder, or by the file itself. Throws one line when there is none. */
export function logFileOf(run: string): string {
  const path = fromCaller(run);
  if (!existsSync(path)) throw new Error(`${run}: no such run; give the folder of a run, or its log.ndjson`);
  const file = statSync(path).isDirectory() ? join(path, "log.ndjson") : path;
  if (existsSync(file)) {
    if (statSync(file).isFile()) return file;
    throw new Error(`${run}: ${forCaller(file)} is no file on a disk; write the log to one first`);
  }
  throw new Error(`${run}: no log.ndjson in ${forCaller(path)}; give the folder of a run, or its log.ndjson`);
}
