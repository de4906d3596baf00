import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type TensorData, writeSafetensors } from "@dflash/safetensors";
import { formatDrafterConfig, type WeightType } from "../config/formatDrafterConfig.ts";
import type { DFlashDrafter } from "../model/createDrafter.ts";
import { writeJson } from "./jsonFile.ts";

/** Settings of {@link saveDrafter}. */
export interface SaveDrafterOptions {
  /** BF16 unless given, as the published drafters are. */
  readonly weights?: WeightType;
}

/**
 * Writes a drafter as the published ones are laid out, for PyTorch, SGLang and vLLM: `config.json` and
 * `model.safetensors`, without the target's embedding and head. Each file is replaced as a whole; an interrupted save
 * leaves the one that stood there.
 *
 * @param dir Made when it isn't there.
 */
export async function saveDrafter(
  dir: string,
  drafter: DFlashDrafter,
  { weights = "BF16" }: SaveDrafterOptions = {},
): Promise<void> {
  await mkdir(dir, { recursive: true });
  const tensors: Record<string, TensorData> = {};
  for (const [name, tensor] of drafter.parameters) {
    tensors[name] = { dtype: weights, shape: tensor.shape, data: await tensor.read() };
  }
  await writeSafetensors(join(dir, "model.safetensors"), tensors, { format: "pt" });
  await writeJson(join(dir, "config.json"), formatDrafterConfig(drafter.config, weights));
}
