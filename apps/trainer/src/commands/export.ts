import { Command } from "commander";

/** `dflash export`: a drafter in the layout that PyTorch, SGLang and vLLM load. */
export function exportCommand(): Command {
  return new Command("export")
    .description("write a drafter in the published layout, in bfloat16, for PyTorch, SGLang and vLLM")
    .argument("<from>", "folder of a run, whose best checkpoint is taken, of a checkpoint, or of a drafter")
    .requiredOption("--out <dir>", "folder to write config.json and model.safetensors to")
    .addHelpText(
      "after",
      `
Examples:
  pnpm dflash export runs/first --out published
  pnpm dflash export runs/first/checkpoints/step-00000200 --out published`,
    )
    .action(async (from: string, { out }: { out: string }) => {
      const { exportDrafter } = await import("../exportDrafter.ts");
      await exportDrafter(from, out);
    });
}
