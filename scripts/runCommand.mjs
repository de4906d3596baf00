import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** Runs a command and gives what it printed; when it fails, the error holds all of that. */
export async function runCommand(command, args, { cwd, env = {} } = {}) {
  try {
    const { stdout } = await execute(command, args, {
      cwd,
      env: { ...process.env, ...env },
      maxBuffer: 64 * 2 ** 20,
    });
    return stdout.trim();
  } catch (error) {
    const printed = `${error.stdout ?? ""}${error.stderr ?? ""}`.trim();
    throw new Error(`${command} ${args.join(" ")} failed in ${cwd ?? process.cwd()}\n${printed || error.message}`, {
      cause: error,
    });
  }
}

/** Runs `task` on every item, as many at a time as there are cores; gives the results in order, or throws the first error. */
export async function runOnAll(items, task) {
  const results = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await task(items[index]);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return results;
}
