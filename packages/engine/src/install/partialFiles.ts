import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** A name, or the end of one, for what this process has not finished yet. */
export const partialName = (): string => `partial-${process.pid}`;

/** Deletes what installations that were killed have left in a folder. */
export async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = /(?:^|\.)partial-(\d+)/.exec(name)?.[1];
    if (pid !== undefined && isGone(Number(pid))) await rm(join(folder, name), { recursive: true, force: true });
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
