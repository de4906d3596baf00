import { Command, Option } from "commander";
import { share } from "../numberArguments.ts";

interface LogFlags {
  format: string;
  out: string;
  follow?: true;
  compare?: string;
  failOver?: number;
  whatIf?: string;
}

/** `dflash log`: prints a run's log in any format, compares it with another run, or asks it how fast other settings would be. */
export function logCommand(): Command {
  return new Command("log")
    .description("print a run's log in any format, compare it with another run, or ask what other settings would do")
    .argument("<run>", "folder of a run, or its log.ndjson")
    .option("--format <format>", "a built-in formatter, a file or a package", "pretty")
    .option("--out <place>", "a file, stdout, stderr, a port for Prometheus or a folder for TensorBoard", "stdout")
    .option("--follow", "go on with a run that is still being logged, until Ctrl-C")
    .addOption(
      new Option("--compare <run>", "say section by section what is slower or faster than in an earlier run").conflicts(
        ["follow", "whatIf"],
      ),
    )
    .addOption(
      new Option("--fail-over <share>", "with --compare: exit with 1 when a section is slower by more, such as 10%")
        .argParser(share)
        .conflicts("whatIf"),
    )
    .addOption(
      new Option("--what-if <changes>", "target-workers=N, queue=N, min-ready=N, cores=N, separated by commas"),
    )
    .addHelpText(
      "after",
      `
Examples:
  pnpm dflash log runs/first
  pnpm dflash log runs/first --follow
  pnpm dflash log runs/first --format chrome > trace.json
  pnpm dflash log runs/first --format tensorboard --out runs/tb
  pnpm dflash log runs/second --compare runs/first --fail-over 10%
  pnpm dflash log runs/first --what-if target-workers=1,queue=4`,
    )
    .action(async (run: string, { whatIf: asked, compare, failOver, ...flags }: LogFlags) => {
      if (failOver !== undefined && compare === undefined)
        throw new Error("--fail-over needs --compare RUN, the run to compare with");
      if (compare !== undefined) {
        const { compareRuns } = await import("../compareRuns.ts");
        await compareRuns(run, { baseline: compare, failOver: failOver ?? null });
      } else if (asked !== undefined) {
        const { askWhatIf } = await import("../askWhatIf.ts");
        await askWhatIf(run, asked);
      } else {
        const { reformatLog } = await import("../reformatLog.ts");
        await reformatLog(run, { ...flags, follow: flags.follow ?? false });
      }
    });
}
