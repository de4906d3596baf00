import { readdir } from "node:fs/promises";
import { loadDrafter, saveDrafter } from "@dflash/drafter";
import { startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { createTimer } from "@dflash/timer";
import { forCaller, fromCaller } from "./callerFolder.ts";
import { drafterFolder, readDrafterConfig } from "./drafterFolder.ts";
import { makeFolder } from "./makeFolder.ts";

/** Writes a drafter, in bfloat16, to a folder, and loads it from there again, so that whoever serves it doesn't find out. */
export async function exportDrafter(from: string, out: string): Promise<void> {
  const folder = await drafterFolder(fromCaller(from));
  const target = fromCaller(out);
  if (target === folder) throw new Error(`--out ${out}: is the drafter itself; choose another folder`);
  await refuseAnotherModel(out, target);
  const engine = await startEngine("cpu");
  try {
    const options = { ops: createOps(engine), timer: createTimer() };
    const drafter = await loadDrafter(folder, options);
    await makeFolder("--out", target);
    await saveDrafter(target, drafter);
    await loadDrafter(target, options);
    console.log(
      `${forCaller(folder)} is exported to ${forCaller(target)}: ${drafter.parameters.size} tensors, bfloat16`,
    );
  } finally {
    engine.dispose();
  }
}

/** Only an earlier export may be written over: no target, no run, and no checkpoint, whose weights are finer. */
async function refuseAnotherModel(out: string, folder: string): Promise<void> {
  const files = await readdir(folder).catch((): string[] => []);
  if (!files.some((file) => file === "config.json" || file.endsWith(".safetensors"))) return;
  const holdsDrafter = !files.includes("training.json") && (await readDrafterConfig(folder).catch(() => null)) !== null;
  if (!holdsDrafter) throw new Error(`--out ${out}: holds a run, a checkpoint or another model; choose another folder`);
}
