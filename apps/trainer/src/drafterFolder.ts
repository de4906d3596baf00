import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { bestCheckpoint, type DrafterConfig, listCheckpoints, parseDrafterConfig } from "@dflash/drafter";

/** Folder of a run's checkpoints. */
export const checkpointsOf = (run: string): string => join(run, "checkpoints");

/**
 * The folder of a drafter's config and weights that a user means: the drafter or checkpoint itself, or of a run its best
 * checkpoint, else its newest, else the drafter at its end.
 */
export async function drafterFolder(path: string): Promise<string> {
  if (existsSync(join(path, "config.json")) && existsSync(join(path, "model.safetensors"))) return path;
  const checkpoints = await listCheckpoints(checkpointsOf(path), {
    onDamaged: (problem) => console.error(`${problem}; this checkpoint is left out`),
  });
  const checkpoint = bestCheckpoint(checkpoints) ?? checkpoints.at(-1);
  if (checkpoint !== undefined) return checkpoint.folder;
  const finished = join(path, "drafter");
  if (existsSync(join(finished, "model.safetensors"))) return finished;
  throw new Error(
    `${path}: no drafter here; give the folder of a run, of a checkpoint, or one with config.json and model.safetensors`,
  );
}

/** The config of the drafter in a folder. */
export async function readDrafterConfig(folder: string): Promise<DrafterConfig> {
  const path = join(folder, "config.json");
  const text = await readFile(path, "utf8");
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path}: not JSON (${error instanceof Error ? error.message : String(error)})`, { cause: error });
  }
  return parseDrafterConfig(json, path);
}
