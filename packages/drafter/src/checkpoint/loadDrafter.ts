import { join } from "node:path";
import type { Ops } from "@dflash/ops";
import { openCheckpoint, readFinite, type Safetensors } from "@dflash/safetensors";
import type { Timer } from "@dflash/timer";
import { parseDrafterConfig } from "../config/parseDrafterConfig.ts";
import { createDrafter, type DFlashDrafter } from "../model/createDrafter.ts";
import { parameterShapes } from "../model/parameterShapes.ts";
import { readJson } from "./jsonFile.ts";

/** Settings of {@link loadDrafter}. */
export interface LoadDrafterOptions {
  /** What the drafter computes with. */
  readonly ops: Ops;
  /** As for `createDrafter`. */
  readonly timer: Timer;
}

/**
 * Reads a drafter in the published layout, whichever its float type.
 *
 * @throws {Error} One line that names the file, the field or tensor, the value and what was expected.
 */
export async function loadDrafter(dir: string, { ops, timer }: LoadDrafterOptions): Promise<DFlashDrafter> {
  const configPath = join(dir, "config.json");
  const config = parseDrafterConfig(await readJson(configPath, "the config of a drafter"), configPath);
  const checkpoint = await openCheckpoint(dir);
  try {
    checkShapes(dir, checkpoint, parameterShapes(config));
    const weights = (name: string): Promise<Float32Array> =>
      readFinite(checkpoint, name, "export the drafter again, or take an earlier checkpoint");
    return await createDrafter({ ops, config, timer, weights });
  } finally {
    await checkpoint.close();
  }
}

function checkShapes(dir: string, { tensors }: Safetensors, shapes: ReadonlyMap<string, readonly number[]>): void {
  for (const [name, shape] of shapes) {
    const found = tensors.get(name)?.shape;
    if (found?.join() === shape.join()) continue;
    const value = found === undefined ? "missing" : `of shape [${found.join(", ")}]`;
    throw new Error(`${dir}: tensor ${name} is ${value}, expected [${shape.join(", ")}] by config.json`);
  }
  for (const name of tensors.keys()) {
    // Weights that would be left out are those of another kind of drafter.
    if (!shapes.has(name))
      throw new Error(`${dir}: tensor ${name} is not part of a DFlash drafter, expected ${shapes.size} others only`);
  }
}
