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

const stepOf = (name: string): number => Number(name.slice("step-".length));

/** The folders of a run's checkpoints, oldest first, whatever is in them; none when the folder isn't there. */
export async function checkpointFolders(dir: string): Promise<string[]> {
  const names = (await entries(dir)).filter((name) => /^step-\d{8,}$/.test(name));
  return names.toSorted((a, b) => stepOf(a) - stepOf(b)).map((name) => join(dir, name));
}

/** Settings of {@link listCheckpoints}. */
export interface ListCheckpointsOptions {
  /** Told, in one line that names the file, of each checkpoint that is left out because what it says can't be read. */
  readonly onDamaged?: (problem: string) => void;
}

/**
 * The checkpoints of a run, oldest first; none when the folder isn't there.
 *
 * @throws {Error} One line that names a file that is damaged, unless `onDamaged` is told.
 */
export async function listCheckpoints(
  dir: string,
  { onDamaged }: ListCheckpointsOptions = {},
): Promise<SavedCheckpoint[]> {
  const found: SavedCheckpoint[] = [];
  for (const folder of await checkpointFolders(dir)) {
    const path = join(folder, "training.json");
    try {
      found.push({ folder, state: parseTrainingState(await readJson(path, "the state of a training run"), path) });
    } catch (error) {
      if (onDamaged === undefined) throw error;
      onDamaged(error instanceof Error ? error.message : String(error));
    }
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

/** Deletes all checkpoints of a run but the newest ones, the best and damaged ones, and what an interrupted save or deletion has left. */
export async function pruneCheckpoints(dir: string, keepLast: number): Promise<void> {
  const checkpoints = await listCheckpoints(dir, { onDamaged: () => {} });
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
