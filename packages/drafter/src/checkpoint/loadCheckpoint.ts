import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { openSafetensors, type Safetensors } from "@dflash/safetensors";
import type { DrafterConfig } from "../config/drafterConfig.ts";
import { parseDrafterConfig } from "../config/parseDrafterConfig.ts";
import type { WeightSource } from "../model/randomWeights.ts";
import { readJson } from "./jsonFile.ts";
import { parseTrainingState, type TrainingState } from "./trainingState.ts";

/** An open checkpoint: `createDrafter` takes its config and weights, the step's `restore` its counters and optimizer state. */
export interface LoadedCheckpoint {
  /** What it says besides its tensors. */
  readonly state: TrainingState;
  /** The drafter's shape. */
  readonly config: DrafterConfig;
  /** The drafter's parameters. */
  readonly weights: WeightSource;
  /** The optimizer's tensors. */
  readonly optimizerState: WeightSource;
  /** Closes the files. */
  close(): Promise<void>;
}

/** Settings of {@link loadCheckpoint}. */
export interface LoadCheckpointOptions {
  /** The settings of the run that goes on. */
  readonly settings: TrainingState["settings"];
}

/**
 * Opens a checkpoint to go on from.
 *
 * @throws {Error} One line that names the file, the field or tensor, the value and what was expected; also when a setting
 * isn't the one that the checkpoint was trained with.
 */
export async function loadCheckpoint(folder: string, { settings }: LoadCheckpointOptions): Promise<LoadedCheckpoint> {
  const path = join(folder, "training.json");
  const state = parseTrainingState(await readJson(path, "the state of a training run"), path);
  const given: TrainingState["settings"] = JSON.parse(JSON.stringify(settings));
  const other = findDifference(state.settings, given);
  if (other !== null) {
    throw new Error(
      `${folder}: was trained with ${other.field} ${oneLine(other.saved)}, not ${oneLine(other.given)}; go on with the same, or start a new run from its weights`,
    );
  }
  const configPath = join(folder, "config.json");
  const config = parseDrafterConfig(await readJson(configPath, "the config of a drafter"), configPath);
  const model = await openSafetensors(join(folder, "model.safetensors"));
  try {
    const optimizer = await openSafetensors(join(folder, "optimizer.safetensors"));
    return {
      state,
      config,
      weights: float32Source(join(folder, "model.safetensors"), model),
      optimizerState: float32Source(join(folder, "optimizer.safetensors"), optimizer),
      close: async () => void (await Promise.all([model.close(), optimizer.close()])),
    };
  } catch (error) {
    await model.close();
    throw error;
  }
}

/** Only float32 brings back the same bits. */
function float32Source(path: string, file: Safetensors): WeightSource {
  return async (name, shape) => {
    const info = file.tensors.get(name);
    if (info?.dtype === "F32" && info.shape.join() === shape.join()) return file.readFloat32(name);
    const found = info === undefined ? "missing" : `${info.dtype} [${info.shape.join(", ")}]`;
    throw new Error(`${path}: tensor ${name} is ${found}, expected F32 [${shape.join(", ")}]`);
  };
}

interface Difference {
  readonly field: string;
  readonly saved: unknown;
  readonly given: unknown;
}

/** The first field, by its path, in which two JSON objects differ. */
function findDifference(
  saved: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
  prefix = "",
): Difference | null {
  for (const key of new Set([...Object.keys(saved), ...Object.keys(given)])) {
    const [a, b] = [saved[key], given[key]];
    if (isDeepStrictEqual(a, b)) continue;
    const field = `${prefix}${key}`;
    return isObject(a) && isObject(b) ? findDifference(a, b, `${field}.`) : { field, saved: a, given: b };
  }
  return null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function oneLine(value: unknown): string {
  return value === undefined ? "(none)" : JSON.stringify(value).slice(0, 80);
}
