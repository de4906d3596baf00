import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Folder of the benchmarks, one package each. */
const folder: string = join(import.meta.dirname, "../../../bench");

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
  /** What is told of each script named `bench`. */
  readonly benchmarks?: Readonly<Record<string, BenchmarkFacts>>;
}

/** What to know of a benchmark before it is started. */
export interface BenchmarkFacts {
  /** What it measures, in a few words. */
  readonly measures: string;
  /** What it compares with, or can't do without, besides this repository: `PyTorch`. */
  readonly uses?: string;
  /** About how long it takes on two cores. */
  readonly minutes: number;
  /** And its quick form, if it has one. */
  readonly quickMinutes?: number;
}

/** A benchmark as it is started: command lines and the folder that they run in. */
export interface Benchmark extends BenchmarkFacts {
  readonly script: string;
  /** The same with the fewest rounds; null where there is none. */
  readonly quick: string | null;
  readonly cwd: string;
}

/**
 * Benchmarks by name: `timer` for the script `bench` of the package in bench/timer, `drafter:kills` for `bench:kills` in
 * bench/drafter; `quick` and `quick:kills` are their quick forms.
 */
export function benchmarks(): Map<string, Benchmark> {
  const found = new Map<string, Benchmark>();
  for (const name of readdirSync(folder)) {
    const cwd = join(folder, name);
    const path = join(cwd, "package.json");
    if (!existsSync(path)) continue;
    const { scripts = {}, benchmarks: facts = {} }: Manifest = JSON.parse(readFileSync(path, "utf8"));
    for (const [key, script] of Object.entries(scripts)) {
      if (!/^bench(:|$)/.test(key)) continue;
      const quick = scripts[key.replace(/^bench/, "quick")] ?? null;
      const known = facts[key];
      if (known === undefined) throw new Error(`${path}: benchmarks has no ${key}; say what it measures and how long`);
      found.set(key.replace(/^bench/, name), { ...known, script, quick, cwd });
    }
  }
  return found;
}
