import { randomBytes } from "node:crypto";
import { access, mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type TensorData, writeSafetensors } from "@dflash/safetensors";
import type { DFlashDrafter } from "../model/createDrafter.ts";
import type { TrainStep } from "../training/trainStep.ts";
import { checkpointName } from "./checkpoints.ts";
import { fileChecksum } from "./fileChecksum.ts";
import { reason, writeJson } from "./jsonFile.ts";
import { saveDrafter } from "./saveDrafter.ts";
import type { TrainingState } from "./trainingState.ts";

/** What {@link saveCheckpoint} writes. */
export interface CheckpointOptions extends Pick<TrainingState, "step" | "score" | "settings" | "carried"> {
  /** Gives config and parameters. */
  readonly drafter: DFlashDrafter;
  /** Gives counters and the optimizer's state. */
  readonly trainStep: TrainStep;
}

/**
 * Saves all that training depends on as `<dir>/step-<step>`: a drafter in the published layout with float32 weights,
 * `optimizer.safetensors` and `training.json`. The folder appears complete or not at all, also when the process is killed.
 * One that stands there already is left as it is: the same settings give the same bits.
 *
 * @param dir Folder of all checkpoints of a run; made when it isn't there.
 * @returns The checkpoint's folder.
 */
export async function saveCheckpoint(dir: string, options: CheckpointOptions): Promise<string> {
  const { step, drafter, trainStep, score, settings, carried } = options;
  const folder = join(dir, checkpointName(step));
  if (await exists(folder)) return folder;
  const temporary = join(dir, `.${checkpointName(step)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    await mkdir(temporary, { recursive: true });
    await saveDrafter(temporary, drafter, { weights: "F32" });
    const tensors: Record<string, TensorData> = {};
    for (const [name, tensor] of trainStep.optimizerState) {
      tensors[name] = { dtype: "F32", shape: tensor.shape, data: await tensor.read() };
    }
    await writeSafetensors(join(temporary, "optimizer.safetensors"), tensors);
    const checksums: Record<string, string> = {};
    for (const name of ["config.json", "model.safetensors", "optimizer.safetensors"])
      checksums[name] = await fileChecksum(join(temporary, name));
    const { counters } = trainStep;
    const state: TrainingState = { version: 1, step, counters, score, settings, checksums, carried };
    await writeJson(join(temporary, "training.json"), state);
    await rename(temporary, folder);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
    throw new Error(`${folder}: the checkpoint cannot be saved (${reason(error)}); earlier ones are untouched`, {
      cause: error,
    });
  }
  await syncFolder(dir);
  return folder;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Makes the rename itself durable. */
async function syncFolder(dir: string): Promise<void> {
  // Windows can't open folders.
  if (process.platform === "win32") return;
  const handle = await open(dir);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
