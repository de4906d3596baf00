import { Command } from "commander";
import { between, integer } from "../numberArguments.ts";
import { pairOptions } from "../pairOptions.ts";
import type { RegenerateFlags } from "../speculate/regenerateAnswers.ts";

/** `dflash regenerate`: a dataset with the target's own answers, which is what a drafter should be trained on. */
export function regenerateCommand(): Command {
  const command = new Command("regenerate")
    .description("rewrite the answers of a data file with the target, to train its drafter on")
    .option("--data <file>", "conversations, JSONL or JSON (default: GSM8K's training problems)")
    .requiredOption("--out <file>", "JSONL to write; the same command goes on with one that is there")
    .option("--drafter <dir>", "drafter that makes it faster and changes nothing, or the folder of its run")
    .option("--records <n>", "records to take, from the first on (default: all)", integer(1, 2_147_483_647))
    .option("--max-new-tokens <n>", "longest answer in tokens", integer(1, 1_048_576), 512)
    .option("--temperature <x>", "0 takes the likeliest token", between(0, 100), 0)
    .option("--seed <n>", "seed of the sampling", integer(0, 0xffff_ffff), 0)
    .option("--batch <n>", "conversations that are answered at the same time", integer(1, 4096), 8)
    .addHelpText(
      "after",
      `
Examples:
  pnpm dflash regenerate --data chats.jsonl --target ./my-model --out answers.jsonl
  pnpm dflash regenerate --records 100 --temperature 0.7 --seed 1 --drafter runs/first --out answers.jsonl
  pnpm dflash train --data answers.jsonl --target ./my-model`,
    )
    .action(async (flags: RegenerateFlags) => {
      const { regenerateAnswers } = await import("../speculate/regenerateAnswers.ts");
      await regenerateAnswers(flags);
    });
  return pairOptions(command);
}
