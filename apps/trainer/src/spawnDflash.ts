import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { ownGroup } from "./untilEnded.ts";

/** Starts this command line as a process of its own, with other arguments. */
export function spawnDflash(args: readonly string[], stdio: StdioOptions): ChildProcess {
  const [, main = ""] = process.argv;
  return spawn(process.execPath, [...process.execArgv, main, ...args], { stdio, detached: ownGroup });
}
