import type { ChildProcess } from "node:child_process";
import { exitCodes, type SignalName, signalNames } from "./exitCodes.ts";
import { interruption } from "./interruption.ts";

/**
 * Whether a child leads a process group: with what it starts it hears of Ctrl-C from us and from nobody else, and so once, since
 * the second ends it at once. On Windows such a child would have a window.
 */
export const ownGroup: boolean = process.platform !== "win32";

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  /** In words: `SIGKILL` or `exit code 1`. */
  readonly how: string;
}

/**
 * Waits until a child, started with `detached: ownGroup`, has ended and its output is complete; Ctrl-C, SIGTERM and SIGHUP are its
 * own meanwhile, and that of what it has started. Throws an interruption when there was one.
 */
export async function untilEnded(child: ChildProcess): Promise<Ended> {
  let heard: SignalName | null = null;
  const passOn = (name: SignalName): void => {
    heard = name;
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    if (ownGroup) process.kill(-child.pid, name);
    else child.kill(name);
  };
  for (const name of signalNames) process.on(name, passOn);
  try {
    const ended = await new Promise<Ended>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => resolve({ code, how: signal ?? `exit code ${code}` }));
    });
    if (heard !== null) throw interruption(exitCodes[heard]);
    return ended;
  } finally {
    for (const name of signalNames) process.off(name, passOn);
  }
}
