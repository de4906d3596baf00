import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";
import { Command } from "commander";
import { type Benchmark, benchmarks } from "../benchmarks.ts";
import { ownGroup, untilEnded } from "../untilEnded.ts";

const repository = join(import.meta.dirname, "../../../..");

interface BenchOptions {
  readonly all?: boolean;
  readonly quick?: boolean;
}

/** `dflash bench`: the figures of docs/benchmarks.md, measured here. */
export function benchCommand(): Command {
  const benchmarksByName = benchmarks();
  return new Command("bench")
    .description("measure what docs/benchmarks tells, where it needs no GPU; prints ratios with their spread")
    .argument("[names...]", "which; without one, and without --all, they are listed")
    .option("--all", "all, one after the other, which takes hours; one that fails does not end the others")
    .option("--quick", "with the fewest rounds: shows that they run here, and gives no figures to keep")
    .addHelpText(
      "after",
      `
What stands behind -- goes to the benchmark; docs/benchmarks says which arguments its figures were made with.

Examples:
  pnpm dflash bench
  pnpm dflash bench timer log
  pnpm dflash bench engines -- --rounds 8 --threads 1
  pnpm dflash bench --all --quick
  pnpm dflash bench --all > figures.txt`,
    )
    .action(async (operands: string[], { all = false, quick = false }: BenchOptions) => {
      const { names, args } = split(operands);
      for (const name of names)
        if (!benchmarksByName.has(name))
          throw new Error(`bench ${name}: no such benchmark; there are ${[...benchmarksByName.keys()].join(", ")}`);
      if (all && names.length > 0) throw new Error(`bench --all ${names.join(" ")}: give names or --all`);
      if (args.length > 0 && names.length !== 1)
        throw new Error(`bench -- ${args.join(" ")}: name the one benchmark that takes these arguments`);
      const wanted = all ? [...benchmarksByName.keys()] : names;
      if (wanted.length === 0) return list(benchmarksByName);
      const outcomes: Outcome[] = [];
      for (const name of wanted) {
        console.log(`## ${name}\n`);
        outcomes.push(await measure(name, benchmarksByName.get(name)!, { args, quick }));
        console.log("");
      }
      if (outcomes.length > 1) for (const { name, text } of outcomes) console.log(`${name.padEnd(26)}${text}`);
      const failed = outcomes.filter((outcome) => outcome.failed).map(({ name }) => name);
      if (failed.length > 0) throw new Error(`${failed.join(", ")} failed; what was printed says why`);
    });
}

/** How a benchmark ended. */
interface Outcome {
  readonly name: string;
  readonly failed: boolean;
  readonly text: string;
}

function list(benchmarksByName: ReadonlyMap<string, Benchmark>): void {
  console.log(row("", "full", "--quick", ""));
  for (const [name, { measures, uses, minutes, quickMinutes }] of benchmarksByName)
    console.log(
      row(name, about(minutes), about(quickMinutes), uses === undefined ? measures : `${measures} (uses ${uses})`),
    );
  console.log(`
Times are those of two cores, of an AMD EPYC virtual machine. What a benchmark uses and isn't there, it leaves out and says so.
dflash bench NAME runs one, --all all of them, --quick with the fewest rounds; --help says more`);
}

const row = (name: string, full: string, quick: string, rest: string): string =>
  `${name.padEnd(26)}${full.padStart(8)}${quick.padStart(8)}  ${rest}`.trimEnd();

/** Minutes as people say them; nothing where there are none. */
function about(minutes: number | undefined): string {
  if (minutes === undefined) return "";
  if (minutes < 1) return `${Math.round(minutes * 60)} s`;
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

async function measure(
  name: string,
  benchmark: Benchmark,
  { args, quick }: { readonly args: readonly string[]; readonly quick: boolean },
): Promise<Outcome> {
  const script = quick ? benchmark.quick : benchmark.script;
  if (script === null) {
    console.log("not run: it has no quick form");
    return { name, failed: false, text: "no quick form" };
  }
  const start = performance.now();
  const code = await run(script, benchmark.cwd, args);
  const seconds = `${((performance.now() - start) / 1e3).toFixed(0)} s`;
  return { name, failed: code !== 0, text: code === 0 ? seconds : `failed after ${seconds}` };
}

/** Names of benchmarks, and what stands behind `--`, which commander tells apart no more. */
function split(operands: readonly string[]): { names: readonly string[]; args: readonly string[] } {
  const at = process.argv.indexOf("--");
  const count = at < 0 ? 0 : process.argv.length - at - 1;
  return { names: operands.slice(0, operands.length - count), args: operands.slice(operands.length - count) };
}

/** Runs a package's script as its package manager would, in its folder and with its binaries. */
async function run(script: string, cwd: string, args: readonly string[]): Promise<number | null> {
  const binaries = [cwd, repository].map((folder) => join(folder, "node_modules/.bin"));
  const PATH = [...binaries, process.env["PATH"]].join(delimiter);
  // The shell gets the arguments as they are, whatever is in them.
  const child = spawn("sh", ["-c", `${script} "$@"`, script, ...args], {
    cwd,
    stdio: "inherit",
    detached: ownGroup,
    env: { ...process.env, PATH },
  });
  return (await untilEnded(child)).code;
}
