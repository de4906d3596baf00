import { dirname, join } from "node:path";
import { Command } from "commander";
import { forCaller, fromCaller } from "../callerFolder.ts";
import { logFileOf } from "../logFileOf.ts";

/** `dflash report`: a run as a page to look at. */
export function reportCommand(): Command {
  return new Command("report")
    .description("write a run, or two side by side, as one HTML file that needs no network")
    .argument("<run>", "folder of a run, or its log.ndjson")
    .argument("[other]", "a second run, to compare with the first")
    .option("--out <file>", "the HTML file (default: report.html in the run's folder)")
    .addHelpText(
      "after",
      `
Examples:
  pnpm dflash report runs/first
  pnpm dflash report runs/first runs/second --out comparison.html`,
    )
    .action(async (run: string, other: string | undefined, { out }: { out?: string }) => {
      const { writeReport } = await import("../report/writeReport.ts");
      const path = out === undefined ? join(dirname(logFileOf(run)), "report.html") : fromCaller(out);
      await writeReport(other === undefined ? [run] : [run, other], path);
      console.log(`the report is in ${forCaller(path)}`);
    });
}
