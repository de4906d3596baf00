import { type Command, Option } from "commander";
import { integer } from "./numberArguments.ts";
import { configOption } from "./settings/configOption.ts";

/** Adds the options of a command that generates: which models, on what they run, and a file of flags. */
export function pairOptions(command: Command): Command {
  return configOption(command)
    .option(
      "--target <model>",
      "folder of the target model, or owner/name on the hub (default: the repository's tiny one)",
    )
    .option("--engine <name>", "tensor engine: auto, tensorflow-gpu, tensorflow, webgpu, wasm or cpu (default: auto)")
    .option("--threads <n>", "threads of the engine (default: the engine's choice)", integer(1, 64))
    .addOption(
      new Option(
        "--matmul-precision <name>",
        "products of the tensorflow engines: fp32, or bf16 where the hardware has it (default: fp32)",
      ).choices(["fp32", "bf16"]),
    );
}
