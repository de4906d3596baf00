import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Folder of the benchmarks, one package each. */
const folder: string = join(import.meta.dirname, "../../../bench");

interface Manifest {
  readonly description?: string;
  readonly scripts?: Readonly<Record<string, string>>;
}

/** A benchmark as it is started: command lines and the folder that they run in. */
export interface Benchmark {
  /** What it measures, in a few words; the package's. */
  readonly measures: string;
  readonly script: string;
  /** The same with the fewest rounds, in a minute or so; null where there is none. */
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
    const { description = "", scripts = {} }: Manifest = JSON.parse(readFileSync(path, "utf8"));
    for (const [key, script] of Object.entries(scripts)) {
      if (!/^bench(:|$)/.test(key)) continue;
      const quick = scripts[key.replace(/^bench/, "quick")] ?? null;
      found.set(key.replace(/^bench/, name), { measures: key === "bench" ? description : "", script, quick, cwd });
    }
  }
  return found;
}
