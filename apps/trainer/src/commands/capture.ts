import { Command, Option } from "commander";
import type { CaptureFlags } from "../captureHiddenStates.ts";
import { integer } from "../numberArguments.ts";
import { configOption } from "../settings/configOption.ts";

/** `dflash capture`: the target's hidden states on disk, to train from. */
export function captureCommand(): Command {
  return configOption(new Command("capture"))
    .description("write a target's hidden states to disk, one file a record or several, for train --hidden-states")
    .option(
      "--target <model>",
      "folder of the target model, or owner/name on the hub (default: the repository's tiny one)",
    )
    .option("--data <file>", "chat records, JSONL (default: GSM8K as answered by the tiny target)")
    .requiredOption("--out <dir>", "folder of the files; what it holds already is not computed again")
    .option("--engine <name>", "tensor engine: auto, tensorflow-gpu, tensorflow, webgpu, wasm or cpu (default: auto)")
    .option("--threads <n>", "threads of the engine (default: the engine's choice)", integer(1, 64))
    .option("--max-length <n>", "longest record in tokens, longer ones are cut (default: 512)", integer(4, 1_048_576))
    .option("--features <n>", "target layers to capture (default: 5)", integer(1, 256))
    .option("--records <n>", "records to capture (default: all)", integer(1, 2_147_483_647))
    .option(
      "--records-per-file <n>",
      "records a file, which are held in memory until it is full (default: 1)",
      integer(1, 65_536),
    )
    .addOption(
      new Option(
        "--on-bad <what>",
        "a record that can't be read or doesn't fit the template: stop (default) or skip",
      ).choices(["stop", "skip"]),
    )
    .addHelpText(
      "after",
      `
Examples:
  pnpm dflash capture --out states --records 1000
  pnpm dflash capture --out states --records-per-file 256
  pnpm dflash train --hidden-states states`,
    )
    .action(async (flags: CaptureFlags) => {
      const { captureHiddenStates } = await import("../captureHiddenStates.ts");
      await captureHiddenStates(flags);
    });
}
