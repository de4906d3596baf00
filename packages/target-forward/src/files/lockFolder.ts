import { readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";

/** The file that says who writes to a folder: its process and machine. */
const lockFile = ".writer.lock";

/**
 * Keeps other writers out of a folder until what it gives is called. A lock whose process has ended, as one that was killed leaves it,
 * counts for nothing.
 *
 * @throws {Error} One line that names the process that holds it, and the file.
 */
export async function lockFolder(dir: string): Promise<() => Promise<void>> {
  const path = join(dir, lockFile);
  const take = (): Promise<boolean> =>
    writeFile(path, `${process.pid} ${hostname()}`, { flag: "wx" }).then(
      () => true,
      (error: unknown) => {
        if (isCode(error, "EEXIST")) return false;
        throw error;
      },
    );
  if (!(await take())) {
    const [pid = "", host = ""] = (await readFile(path, "utf8").catch(() => "")).split(" ");
    const gone = host === hostname() && hasEnded(Number(pid));
    if (gone) await rm(path, { force: true });
    if (!gone || !(await take()))
      throw new Error(
        `${dir}: process ${pid || "unknown"} on ${host || "this machine"} is writing there; wait for it, choose another folder, or remove ${path} if it has ended`,
      );
  }
  return () => rm(path, { force: true });
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // Another user's process may not be signalled.
    return isCode(error, "ESRCH");
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
