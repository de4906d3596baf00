import { Command, Option } from "commander";
import { between, integer, lengths, positive } from "../numberArguments.ts";
import type { TrainFlags } from "../train/trainConfig.ts";

/** `dflash train`: trains a drafter and leaves it, its log and a summary in the run's folder. */
export function trainCommand(): Command {
  return new Command("train")
    .description("train a drafter for a frozen target model")
    .option(
      "--target <model>",
      "folder of the target model, or owner/name on the hub (default: the repository's tiny one)",
    )
    .option("--data <file>", "chat records, JSONL (default: GSM8K as answered by the tiny target)")
    .option("--engine <name>", "tensor engine: auto, tensorflow-gpu, tensorflow, wasm or cpu (default: auto)")
    .option("--threads <n>", "threads of the engine (default: the engine's choice)", integer(1, 64))
    .addOption(
      new Option(
        "--matmul-precision <name>",
        "products of the tensorflow engines: fp32, or bf16 where the hardware has it (default: fp32)",
      ).choices(["fp32", "bf16"]),
    )
    .option("--steps <n>", "training steps (default: 300)", integer(1, 100_000_000))
    .option("--rows <n>", "chat records a step (default: 2)", integer(1, 4096))
    .option("--max-length <n>", "longest record in tokens, longer ones are cut (default: 512)", integer(4, 1_048_576))
    .option("--buckets <lengths>", "row lengths to pad to, such as 64,96,128, or auto (default: no padding)", lengths)
    .option(
      "--batch-tokens <n>",
      "pack rows into batches of so many tokens, in place of --rows",
      integer(4, 16_777_216),
    )
    .option("--target-workers <n>", "threads that run the target beside the drafter (default: 0)", integer(0, 64))
    .option("--hidden-states <dir>", "train from the hidden states in a folder, which dflash capture wrote")
    .option("--split-features", "hand features over layer by layer in place of joining them")
    .option("--queue <n>", "most batches that the target is ahead of the drafter (default: 3)", integer(1, 1024))
    .option("--min-ready <n>", "batches that must be ready before a step begins (default: 1)", integer(1, 1024))
    .addOption(
      new Option("--wire <format>", "how hidden states travel from a worker (default: float32)").choices([
        "float32",
        "bfloat16",
      ]),
    )
    .option("--anchors <n>", "anchors a record (default: 32)", integer(1, 65_536))
    .option("--block-size <n>", "tokens a block, anchor included (default: 8)", integer(2, 256))
    .option("--layers <n>", "decoder layers of the drafter (default: 2)", integer(1, 64))
    .option("--mask-token-id <n>", "token of the masked slots (default: the tokenizer's)", integer(0, 16_777_215))
    .addOption(
      new Option(
        "--anchor-rule <rule>",
        "anchors whose next token is supervised, or whose block ends in the record",
      ).choices(["pair", "whole-block"]),
    )
    .addOption(
      new Option("--loss <name>", "what is learnt from (default: decay)").choices(["decay", "d-pace", "soft-target"]),
    )
    .option(
      "--gamma <x>",
      "decay of the weights over a block, 0 for none (default: by the block size)",
      between(0, 1e6),
    )
    .option("--alpha <x>", "smoothing of D-PACE (default: 0.5)", between(0, 1))
    .option("--learning-rate <x>", "peak learning rate (default: 1e-3)", positive(1))
    .addOption(
      new Option("--schedule <name>", "learning rate after the warm-up (default: cosine)").choices([
        "cosine",
        "linear",
        "constant",
        "wsd",
      ]),
    )
    .option("--warmup <ratio>", "part of the steps that the learning rate rises in (default: 0.04)", between(0, 1))
    .option("--floor <ratio>", "learning rate at the end, as a part of the peak (default: 0)", between(0, 1))
    .option("--weight-decay <x>", "decay of the matrices (default: 0)", between(0, 10))
    .option("--clip <x>", "global gradient norm above which gradients are scaled down (default: 1)", positive(1e9))
    .option("--accumulate <n>", "batches a step (default: 1)", integer(1, 65_536))
    .option("--seed <n>", "seed of everything random (default: 0)", integer(0, 0xffff_ffff))
    .option("--out <dir>", "folder of the run (default: runs/<date and time>)")
    .option("--init <dir>", "begin with the weights of a drafter, of a checkpoint or of a run")
    .option("--resume <dir>", "go on with the run in a folder, from its newest checkpoint")
    .option("--checkpoint-every <n>", "steps between checkpoints (default: 100)", integer(1, 100_000_000))
    .option("--keep <n>", "newest checkpoints to keep, beside the best (default: 3)", integer(1, 1_000_000))
    .option("--log-format <format>", "what is printed: a built-in formatter, a file or a package (default: pretty)")
    .addOption(
      new Option(
        "--log <output>",
        "FORMAT:PLACE, a further output; PLACE is a file, stdout, stderr, a port for Prometheus or a folder for TensorBoard (repeatable)",
      ).argParser((output, before: string[] | undefined) => [...(before ?? []), output]),
    )
    .option("--baseline <run>", "say while training which sections are slower than in an earlier run")
    .addOption(
      new Option("--on-bad <what>", "a record, or its hidden states, that can't be used: error or skip").choices([
        "error",
        "skip",
      ]),
    )
    .addOption(new Option("--no-telemetry", "train without timing"))
    .addHelpText(
      "after",
      `
Examples:
  pnpm dflash train
  pnpm dflash train --steps 50 --log-format ndjson > steps.ndjson
  pnpm dflash train --log pretty:stderr --log prometheus:9464 --log tensorboard:runs/tb
  pnpm dflash train --log-format ./my-format.ts --baseline runs/first
  pnpm dflash train --target ./my-model --data ./chats.jsonl --out runs/first
  pnpm dflash train --resume runs/first`,
    )
    .action(async (flags: TrainFlags & { resume?: string }) => {
      const { runTraining } = await import("../train/runTraining.ts");
      await runTraining(flags);
    });
}
