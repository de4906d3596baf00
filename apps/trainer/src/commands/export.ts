import { loadDrafter, saveDrafter } from "@dflash/drafter";
import { startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { createTimer } from "@dflash/timer";
import { Command } from "commander";
import { forCaller, fromCaller } from "../callerFolder.ts";
import { drafterFolder } from "../drafterFolder.ts";

/** `dflash export`: a drafter in the layout that PyTorch, SGLang and vLLM load. */
export function exportCommand(): Command {
  return new Command("export")
    .description("write a drafter in the published layout, in bfloat16, for PyTorch, SGLang and vLLM")
    .argument("<from>", "folder of a run, whose best checkpoint is taken, of a checkpoint, or of a drafter")
    .requiredOption("--out <dir>", "folder to write config.json and model.safetensors to")
    .action(async (from: string, { out }: { out: string }) => {
      const folder = await drafterFolder(fromCaller(from));
      const target = fromCaller(out);
      if (target === folder) throw new Error(`--out ${out}: is the drafter itself; choose another folder`);
      const engine = await startEngine("cpu");
      try {
        const options = { ops: createOps(engine), timer: createTimer() };
        const drafter = await loadDrafter(folder, options);
        await saveDrafter(target, drafter);
        // What was written is read again, so that whoever serves it doesn't find out.
        await loadDrafter(target, options);
        console.log(
          `${forCaller(folder)} is exported to ${forCaller(target)}: ${drafter.parameters.size} tensors, bfloat16`,
        );
      } finally {
        engine.dispose();
      }
    });
}
