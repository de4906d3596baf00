import { readdirSync, readFileSync } from "node:fs";

/** What one thread of this process did between two readings. */
export interface ThreadCpu {
  /** The kernel's number of the thread. */
  readonly id: number;
  /** As the kernel knows it: `node`, `V8Worker`, `libuv-worker` … */
  readonly name: string;
  /** Time on a processor, ms. */
  readonly cpuMs: number;
  /** Time ready to run without a processor, ms. */
  readonly runQueueMs: number;
}

const TASKS = "/proc/self/task";

/** Makes a meter of this process's threads (Linux; elsewhere it reads an empty list). Each reading is what was used since the one before it, busiest first. */
export function createThreadMeter(): () => ThreadCpu[] {
  let before = new Map<number, ThreadCpu>();
  const read = (): ThreadCpu[] => {
    const now = new Map(threads().map((thread) => [thread.id, thread]));
    const used = [...now.values()].map((thread) => {
      const past = before.get(thread.id);
      return {
        ...thread,
        cpuMs: thread.cpuMs - (past?.cpuMs ?? 0),
        runQueueMs: thread.runQueueMs - (past?.runQueueMs ?? 0),
      };
    });
    before = now;
    return used.toSorted((a, b) => b.cpuMs - a.cpuMs);
  };
  read();
  return read;
}

function threads(): ThreadCpu[] {
  let ids: string[];
  try {
    ids = readdirSync(TASKS);
  } catch {
    return [];
  }
  return ids.flatMap((id) => {
    try {
      const [cpuNs = "0", queueNs = "0"] = readFileSync(`${TASKS}/${id}/schedstat`, "latin1").split(" ");
      const name = readFileSync(`${TASKS}/${id}/comm`, "latin1").trim();
      return [{ id: Number(id), name, cpuMs: Number(cpuNs) / 1e6, runQueueMs: Number(queueNs) / 1e6 }];
    } catch {
      // The thread has ended since the folder was read.
      return [];
    }
  });
}
