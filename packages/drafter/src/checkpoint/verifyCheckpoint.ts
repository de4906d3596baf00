import { join } from "node:path";
import { openSafetensors } from "@dflash/safetensors";
import { parseDrafterConfig } from "../config/parseDrafterConfig.ts";
import type { SavedCheckpoint } from "./checkpoints.ts";
import { fileChecksum } from "./fileChecksum.ts";
import { readJson } from "./jsonFile.ts";
import { parseTrainingState } from "./trainingState.ts";

/**
 * Reads all of a checkpoint, to find out whether it is as it was saved.
 *
 * @throws {Error} One line that names the file and what is wrong with it; its cause has the system's code where it can't be read.
 */
export async function verifyCheckpoint(folder: string): Promise<SavedCheckpoint> {
  const path = join(folder, "training.json");
  const state = parseTrainingState(await readJson(path, "the state of a training run"), path);
  const config = join(folder, "config.json");
  parseDrafterConfig(await readJson(config, "the config of a drafter"), config);
  for (const name of ["model.safetensors", "optimizer.safetensors"])
    await (await openSafetensors(join(folder, name))).close();
  for (const [name, saved] of Object.entries(state.checksums)) {
    const found = await fileChecksum(join(folder, name));
    if (found !== saved)
      throw new Error(
        `${join(folder, name)}: its checksum is ${found}, not ${saved} as when it was saved; it has changed`,
      );
  }
  return { folder, state };
}
