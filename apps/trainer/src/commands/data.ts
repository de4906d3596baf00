import { Command } from "commander";
import type { InspectFlags } from "../inspectData.ts";
import { integer } from "../numberArguments.ts";

/** `dflash data inspect`: what a data file gives to a training run. */
export function dataCommand(): Command {
  const inspect = new Command("inspect")
    .description("count records, tokens and supervised tokens of a data file and show some with their loss mask")
    .argument("<file>", "chat records, JSONL or JSON, gzip too")
    .option(
      "--target <model>",
      "folder of the target model, or owner/name on the hub, whose tokenizer is used (default: the repository's tiny one)",
    )
    .option("--max-length <n>", "cut longer records", integer(4, 1_048_576))
    .option("--last-turn-only", "supervise the last answer of a conversation only")
    .option("--examples <n>", "records to show", integer(0, 1000), 3)
    .addHelpText(
      "after",
      `
Examples:
  pnpm dflash data inspect data/gsm8k/test.tiny-target.jsonl
  pnpm dflash data inspect chats.jsonl --target ./my-target --max-length 512 --examples 1`,
    )
    .action(async (file: string, flags: InspectFlags) => {
      const { inspectData } = await import("../inspectData.ts");
      await inspectData(file, flags);
    });
  return new Command("data").description("look into data files").addCommand(inspect);
}
