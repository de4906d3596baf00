import { Command } from "commander";

/** `dflash demo`: finding a bottleneck and taking it away, in a minute. */
export function demoCommand(): Command {
  return new Command("demo")
    .description("train briefly, show where the time goes, follow the advice, and train again, faster")
    .option("--out <dir>", "folder of the two runs and their report", "runs/demo")
    .addHelpText(
      "after",
      `
Examples:
  pnpm dflash demo
  pnpm dflash demo --out /tmp/demo`,
    )
    .action(async ({ out }: { out: string }) => {
      const { runDemo } = await import("../runDemo.ts");
      await runDemo(out);
    });
}
