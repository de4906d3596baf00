import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** A process to kill: it says on stdout that it has begun to write, and would go on for ever. */
export interface Victim {
  /** JavaScript that plain Node runs. */
  script: string;
  args: string[];
  /** Between the first sign of writing and SIGKILL, ms. */
  delayMs: number;
}

/** Starts a process that writes and kills it in the middle, so that none of its own code can tidy up. */
export async function killWhileWriting({ script, args, delayMs }: Victim): Promise<void> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit");
  const begun = await Promise.race([once(child.stdout, "data"), exit.then(() => undefined)]);
  if (begun === undefined) throw new Error(`${script} ended before it wrote anything`);
  await sleep(delayMs);
  child.kill("SIGKILL");
  const [, signal] = (await exit) as [number | null, NodeJS.Signals | null];
  if (signal !== "SIGKILL") throw new Error(`${script} ended by itself`);
}
