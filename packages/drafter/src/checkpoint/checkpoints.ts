import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { readJson } from "./jsonFile.ts";
import { parseTrainingState, type TrainingState } from "./trainingState.ts";

/** A checkpoint of a run. */
export interface SavedCheckpoint {
  /** Its folder. */
  readonly folder: string;
  /** What it says besides its tensors. */
  readonly state: TrainingState;
}

/** Name of a checkpoint's folder; sorts by step. */
export function checkpointName(step: number): string {
  return `step-${String(step).padStart(8, "0")}`;
}

/**
 * The checkpoints of a run, oldest first; none when the folder isn't there.
 *
 * @throws {Error} One line that names a file that is damaged.
 */
export async function listCheckpoints(dir: string): Promise<SavedCheckpoint[]> {
  const names = (await entries(dir)).filter((name) => /^step-\d{8,}$/.test(name));
  const found: SavedCheckpoint[] = [];
  for (const name of names) {
    const folder = join(dir, name);
    const path = join(folder, "training.json");
    found.push({ folder, state: parseTrainingState(await readJson(path, "the state of a training run"), path) });
  }
  return found.toSorted((a, b) => a.state.step - b.state.step);
}

/** The checkpoint with the highest score, of equals the newest; undefined when none has one. */
export function bestCheckpoint(checkpoints: readonly SavedCheckpoint[]): SavedCheckpoint | undefined {
  return checkpoints.reduce<SavedCheckpoint | undefined>((best, checkpoint) => {
    const { score } = checkpoint.state;
    return score === null || score < (best?.state.score ?? -Infinity) ? best : checkpoint;
  }, undefined);
}

/** Deletes all checkpoints of a run but the newest ones and the best, and what an interrupted save or deletion has left. */
export async function pruneCheckpoints(dir: string, keepLast: number): Promise<void> {
  const checkpoints = await listCheckpoints(dir);
  const best = bestCheckpoint(checkpoints);
  for (const checkpoint of checkpoints.slice(0, Math.max(0, checkpoints.length - keepLast))) {
    // Renamed first: a half deleted folder must not be taken for a checkpoint.
    if (checkpoint !== best)
      await rename(checkpoint.folder, join(dir, `.${checkpointName(checkpoint.state.step)}.deleted`));
  }
  for (const name of await entries(dir)) {
    if (/^\.step-\d{8,}\..*(tmp|deleted)$/.test(name)) await rm(join(dir, name), { recursive: true, force: true });
  }
}

async function entries(dir: string): Promise<string[]> {
  return readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new Error(`${dir}: cannot be read (${error.code}), expected the checkpoints of a run`, { cause: error });
  });
}
