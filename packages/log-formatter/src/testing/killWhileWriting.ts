import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

/** A process to kill. */
export interface Victim {
  /** Arguments of Node: the script and its own. */
  readonly args: readonly string[];
  /** Folder that it runs in; this process's unless given. */
  readonly cwd?: string;
  /** This process's environment unless given. */
  readonly env?: NodeJS.ProcessEnv;
  /** Whether what it has printed on stdout so far says that its time has come; asked at its start, too. Any first output does unless given. */
  readonly until?: (printed: string) => boolean;
  /** Between that and SIGKILL, ms. */
  readonly delayMs: number;
}

/**
 * Starts a Node process and kills it with SIGKILL while it writes, so that none of its own code can tidy up: what is on disk
 * then is what a crash leaves. Give random delays, and read back what it wrote.
 *
 * @returns Whether it was killed, or was through before that.
 * @throws {Error} With its stderr, when it failed by itself.
 */
export async function killWhileWriting(victim: Victim): Promise<"killed" | "finished"> {
  const { args, cwd, env, until = (printed) => printed !== "", delayMs } = victim;
  const child = spawn(process.execPath, args, { ...(cwd && { cwd }), ...(env && { env }) });
  const closed = new Promise<"killed" | "finished">((resolve, reject) => {
    let stderr = "";
    child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (signal === "SIGKILL") resolve("killed");
      else if (code === 0) resolve("finished");
      else reject(new Error(`${args.join(" ")} ended by itself with ${signal ?? `exit code ${code}`}: ${stderr}`));
    });
  });
  const begun = new Promise<void>((resolve) => {
    let printed = "";
    if (until(printed)) resolve();
    child.stdout.on("data", (data: Buffer) => {
      printed += data.toString();
      if (until(printed)) resolve();
    });
  });
  await Promise.race([begun.then(async () => sleep(delayMs)), closed]);
  child.kill("SIGKILL");
  return closed;
}
