import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TensorData, writeSafetensors } from "@dflash/safetensors";
import { formatDrafterConfig } from "../config/formatDrafterConfig.ts";
import type { DFlashDrafter } from "../model/createDrafter.ts";

/**
 * Writes a drafter as the published ones are laid out, for PyTorch, SGLang and vLLM: `config.json` and
 * `model.safetensors` in bfloat16, without the target's embedding and head. Each file is replaced as a whole; an
 * interrupted save leaves the one that stood there.
 *
 * @param dir Made when it isn't there.
 */
export async function saveDrafter(dir: string, drafter: DFlashDrafter): Promise<void> {
  await mkdir(dir, { recursive: true });
  const tensors: Record<string, TensorData> = {};
  for (const [name, tensor] of drafter.parameters) {
    tensors[name] = { dtype: "BF16", shape: tensor.shape, data: await tensor.read() };
  }
  await writeSafetensors(join(dir, "model.safetensors"), tensors, { format: "pt" });
  const config = join(dir, "config.json");
  const temporary = `${config}.${process.pid}.tmp`;
  await writeFile(temporary, `${JSON.stringify(formatDrafterConfig(drafter.config), null, 2)}\n`);
  await rename(temporary, config);
}
