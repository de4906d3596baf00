import { rename } from "node:fs/promises";
import { checkpointFolders, type SavedCheckpoint, verifyCheckpoint } from "@dflash/drafter";
import { forCaller } from "../callerFolder.ts";
import { checkpointsOf } from "../drafterFolder.ts";

/**
 * The newest checkpoint of a run that is as it was saved; null where there is none at all. Damaged ones before it are kept under
 * another name, since the run will save those steps again, and named on standard error.
 *
 * @throws {Error} One line when all are damaged, or one can't be read for another reason.
 */
export async function newestCheckpoint(out: string, attempt: number): Promise<SavedCheckpoint | null> {
  const damaged: { folder: string; problem: string }[] = [];
  for (const folder of (await checkpointFolders(checkpointsOf(out))).toReversed()) {
    try {
      const checkpoint = await verifyCheckpoint(folder);
      for (const { folder: from, problem } of damaged) {
        const to = `${from}.damaged-${attempt}`;
        await rename(from, to);
        console.error(`${problem}; kept as ${forCaller(to)}, the run goes on from step ${checkpoint.state.step}`);
      }
      return checkpoint;
    } catch (error) {
      if (!isDamage(error)) throw error;
      damaged.push({ folder, problem: error.message });
    }
  }
  if (damaged.length === 0) return null;
  throw new Error(
    `--resume ${forCaller(out)}: none of its ${damaged.length} checkpoints can be used (the newest: ${damaged[0]!.problem}); start a new run in another folder`,
  );
}

/** What is there and can't be read, for want of rights or of open files, is no damage. */
function isDamage(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const code = error.cause instanceof Error && "code" in error.cause ? error.cause.code : undefined;
  return code === undefined || code === "ENOENT" || code === "ENOTDIR";
}
