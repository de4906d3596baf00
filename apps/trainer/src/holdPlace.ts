import { readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { forCaller } from "./callerFolder.ts";

/** The lock file of a folder. */
export const lockFile = (folder: string): string => join(folder, "lock.json");

/** The process that writes somewhere, as its lock file has it. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Tells it from a later process with its number; null where the system doesn't say. */
  readonly birth: string | null;
  /** Since when, in ISO 8601. */
  readonly since: string;
}

/**
 * Keeps other processes of this command line from writing where this one does, by a lock file, until it is let go or the process
 * ends. The lock of a process that is gone counts for nothing. A folder that is left empty goes with the lock.
 *
 * @param place What the user named, for messages: `--out runs/first`.
 * @param lock Path of the lock file, in a folder that is there.
 * @returns Lets go.
 * @throws {Error} One line that names the process that writes there.
 */
export function holdPlace(place: string, lock: string): () => void {
  const { pid } = process;
  const own: Holder = { pid, host: hostname(), birth: birthOf(pid), since: new Date().toISOString() };
  if (!create(lock, own)) {
    const holder = read(lock);
    if (holder === null || !isGone(holder)) throw new Error(`${place}: ${describe(holder, lock)}`);
    rmSync(lock, { force: true });
    if (!create(lock, own)) throw new Error(`${place}: ${describe(read(lock), lock)}`);
  }
  const release = (): void => {
    process.off("exit", release);
    rmSync(lock, { force: true });
    try {
      rmdirSync(dirname(lock));
    } catch {
      // What was written is there.
    }
  };
  process.on("exit", release);
  return release;
}

/** False when the file is there. */
function create(lock: string, holder: Holder): boolean {
  try {
    writeFileSync(lock, `${JSON.stringify(holder)}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    // On a full disk it is there and empty.
    rmSync(lock, { force: true });
    throw new Error(
      `${forCaller(lock)}: cannot be written (${error instanceof Error ? error.message : String(error)})`,
      {
        cause: error,
      },
    );
  }
}

/** Null when it isn't what this command line writes. */
function read(lock: string): Holder | null {
  try {
    const { pid, host, birth, since }: Record<string, unknown> = JSON.parse(readFileSync(lock, "utf8"));
    if (typeof pid !== "number" || typeof host !== "string" || typeof since !== "string") return null;
    return { pid, host, birth: typeof birth === "string" ? birth : null, since };
  } catch {
    return null;
  }
}

/** Whether a process is known to have ended: one of this host whose number nobody has, or a younger process. */
function isGone({ pid, host, birth }: Holder): boolean {
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
  return birth !== birthOf(pid);
}

/** When a process began, in the kernel's ticks (field 22 of `/proc/<pid>/stat`, the 20th behind the name); null elsewhere than on Linux. */
function birthOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

function describe(holder: Holder | null, lock: string): string {
  if (holder === null) return `${forCaller(lock)} says that a process writes there; remove it if none does`;
  const { pid, host, since } = holder;
  const who = `process ${pid}${host === hostname() ? "" : ` on ${host}`} has been writing there since ${since}`;
  const remedy = host === hostname() ? "" : `; if it has ended, remove ${forCaller(lock)}`;
  return `${who}; wait for its end, or choose another place${remedy}`;
}
