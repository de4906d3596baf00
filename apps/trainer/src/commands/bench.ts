import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";
import { Command } from "commander";
import { type Benchmark, benchmarks } from "../benchmarks.ts";

const repository = join(import.meta.dirname, "../../../..");

/** `dflash bench`: the figures of docs/benchmarks.md, measured here. */
export function benchCommand(): Command {
  const all = benchmarks();
  return new Command("bench")
    .description("measure what docs/benchmarks tells, where it needs no GPU; prints ratios with their spread")
    .argument(
      "[names...]",
      `some of ${[...all.keys()].join(", ")} (default: all, one after the other, which takes hours)`,
    )
    .addHelpText(
      "after",
      `
What stands behind -- goes to the benchmark; docs/benchmarks says which arguments its figures were made with.

Examples:
  pnpm dflash bench timer log
  pnpm dflash bench engines -- --rounds 8 --threads 1
  pnpm dflash bench > figures.txt`,
    )
    .action(async (operands: string[]) => {
      const { names, args } = split(operands);
      for (const name of names)
        if (!all.has(name))
          throw new Error(`bench ${name}: no such benchmark; there are ${[...all.keys()].join(", ")}`);
      if (args.length > 0 && names.length !== 1)
        throw new Error(`bench -- ${args.join(" ")}: name the one benchmark that takes these arguments`);
      const failed: string[] = [];
      for (const name of names.length > 0 ? names : all.keys()) {
        console.log(`## ${name}\n`);
        if ((await run(all.get(name)!, args)) !== 0) failed.push(name);
        console.log("");
      }
      if (failed.length > 0) throw new Error(`${failed.join(", ")} failed; what was printed says why`);
    });
}

/** Names of benchmarks, and what stands behind `--`, which commander tells apart no more. */
function split(operands: readonly string[]): { names: readonly string[]; args: readonly string[] } {
  const at = process.argv.indexOf("--");
  const count = at < 0 ? 0 : process.argv.length - at - 1;
  return { names: operands.slice(0, operands.length - count), args: operands.slice(operands.length - count) };
}

/** Runs a package's script as its package manager would, in its folder and with its binaries. */
function run({ script, cwd }: Benchmark, args: readonly string[]): Promise<number | null> {
  const binaries = [cwd, repository].map((folder) => join(folder, "node_modules/.bin"));
  const PATH = [...binaries, process.env["PATH"]].join(delimiter);
  // The shell gets the arguments as they are, whatever is in them.
  const child = spawn("sh", ["-c", `${script} "$@"`, script, ...args], {
    cwd,
    stdio: "inherit",
    env: { ...process.env, PATH },
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
}
