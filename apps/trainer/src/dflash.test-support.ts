import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

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

/** Runs the real command line, as `pnpm dflash` does, from `cwd`; `onStdout` may act on what it prints. */
export function dflash(
  args: readonly string[],
  cwd: string,
  onStdout?: (text: string, interrupt: () => void) => void,
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const main = join(repository, "apps/trainer/src/main.ts");
    const loader = import.meta.resolve("tsx");
    const { FORCE_COLOR: _, ...env } = process.env;
    const child = spawn(process.execPath, ["--import", loader, main, ...args], {
      cwd: repository,
      env: { ...env, INIT_CWD: cwd },
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (data: Buffer) => {
      stdout += data.toString();
      onStdout?.(stdout, () => child.kill("SIGINT"));
    });
    child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
