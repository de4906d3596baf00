import { Command } from "commander";
import { between, integer } from "../numberArguments.ts";
import { pairOptions } from "../pairOptions.ts";
import type { GenerateFlags } from "../speculate/generateAnswer.ts";

/** `dflash generate`: an answer of the target, streamed. */
export function generateCommand(): Command {
  const command = new Command("generate")
    .description("answer a question with the target, by speculative decoding where a drafter is given")
    .argument("[question]", "the question; standard input unless given")
    .option(
      "--drafter <dir>",
      "folder of a drafter, of a checkpoint, or of a run; what it proposed is green on a terminal",
    )
    .option("--system <text>", "system message before the question")
    .option("--max-new-tokens <n>", "longest answer in tokens", integer(1, 1_048_576), 512)
    .option("--block-size <n>", "tokens a block, at most the drafter's (default: the drafter's)", integer(1, 256))
    .option("--temperature <x>", "0 takes the likeliest token", between(0, 100), 0)
    .option("--seed <n>", "seed of the sampling", integer(0, 0xffff_ffff), 0)
    .addHelpText(
      "after",
      `
Examples:
  pnpm dflash generate --drafter runs/first "A robe takes 2 bolts of blue fiber and half that much white. How many bolts?"
  echo "How far is it?" | pnpm dflash generate --temperature 0.8 --seed 7`,
    )
    .action(async (question: string | undefined, flags: GenerateFlags) => {
      const { generateAnswer } = await import("../speculate/generateAnswer.ts");
      await generateAnswer(question, flags);
    });
  return pairOptions(command);
}
