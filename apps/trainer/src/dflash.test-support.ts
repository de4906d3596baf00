import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject, onTestFinished } from "vitest";

/** The repository's root. */
export const repository: string = join(import.meta.dirname, "../../..");

/** An empty folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "dflash-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Result of a command. */
export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** How Node runs the command line, bundled, as `pnpm dflash` does from `cwd`. */
export function nodeDflash(
  args: readonly string[],
  cwd: string,
): { args: string[]; cwd: string; env: NodeJS.ProcessEnv } {
  const { FORCE_COLOR: _, ...env } = process.env;
  return {
    args: [inject("main"), ...args],
    cwd: repository,
    env: { ...env, INIT_CWD: cwd },
  };
}

/** Starts the real command line, as `pnpm dflash` does, from `cwd`. */
export function startDflash(args: readonly string[], cwd: string): ChildProcessWithoutNullStreams {
  const { args: nodeArgs, ...options } = nodeDflash(args, cwd);
  return spawn(process.execPath, nodeArgs, options);
}

/** Runs the real command line, as `pnpm dflash` does, from `cwd`, with one Ctrl-C once it has printed `interruptAt`. */
export function dflash(args: readonly string[], cwd: string, interruptAt?: RegExp): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = startDflash(args, cwd);
    let [stdout, stderr] = ["", ""];
    let interrupted = false;
    child.stdout.on("data", (data: Buffer) => {
      stdout += data.toString();
      if (!interrupted && interruptAt?.test(stdout)) interrupted = child.kill("SIGINT");
    });
    child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
