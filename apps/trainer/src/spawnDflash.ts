import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";

/** Starts this command line as a process of its own, with other arguments. */
export function spawnDflash(args: readonly string[], stdio: StdioOptions): ChildProcess {
  const [, main = ""] = process.argv;
  return spawn(process.execPath, [...process.execArgv, main, ...args], { stdio });
}

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  /** In words: `SIGKILL` or `exit code 1`. */
  readonly how: string;
}

/** Waits until a process has ended and its output is complete. */
export function untilEnded(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, how: signal ?? `exit code ${code}` }));
  });
}
