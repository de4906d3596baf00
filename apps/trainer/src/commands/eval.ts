import { Command } from "commander";
import { between, integer } from "../numberArguments.ts";
import { pairOptions } from "../pairOptions.ts";
import type { EvalFlags } from "../speculate/evaluateDrafter.ts";

/** `dflash eval`: what a drafter is worth, measured by speculative decoding. */
export function evalCommand(): Command {
  const command = new Command("eval")
    .description("measure acceptance length and speed-up of a drafter by speculative decoding")
    .requiredOption(
      "--drafter <dir>",
      "folder of a drafter, of a checkpoint, or of a run, whose best checkpoint is taken",
    )
    .option("--data <file>", "chat records whose questions are asked, JSONL (default: GSM8K's test problems)")
    .option("--prompts <n>", "how many of them, from the first on", integer(1, 2_147_483_647), 100)
    .option("--max-new-tokens <n>", "longest answer in tokens", integer(1, 1_048_576), 128)
    .option("--block-size <n>", "tokens a block, at most the drafter's (default: the drafter's)", integer(1, 256))
    .option("--temperature <x>", "0 takes the likeliest token", between(0, 100), 0)
    .option("--seed <n>", "seed of the sampling", integer(0, 0xffff_ffff), 0)
    .option("--batch <n>", "prompts that are answered at the same time", integer(1, 4096), 1)
    .option("--no-baseline", "don't generate by the target alone to compare")
    .option("--json <file>", "write the figures to a file")
    .addHelpText(
      "after",
      `
Examples:
  pnpm dflash eval --drafter runs/first
  pnpm dflash eval --drafter fixtures/drafter-b8 --prompts 20 --json eval.json
  pnpm dflash eval --drafter runs/first/drafter --batch 16 --no-baseline`,
    )
    .action(async (flags: EvalFlags) => {
      const { evaluateDrafter } = await import("../speculate/evaluateDrafter.ts");
      await evaluateDrafter(flags);
    });
  return pairOptions(command);
}
