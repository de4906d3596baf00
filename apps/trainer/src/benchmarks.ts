import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Folder of the benchmarks, one package each. */
const folder: string = join(import.meta.dirname, "../../../bench");

/** A benchmark as it is started: a command line and the folder that it runs in. */
export interface Benchmark {
  readonly script: string;
  readonly cwd: string;
}

/** Benchmarks by name: `timer` for the script `bench` of the package in bench/timer, `drafter:kills` for `bench:kills` in bench/drafter. */
export function benchmarks(): Map<string, Benchmark> {
  const found = new Map<string, Benchmark>();
  for (const name of readdirSync(folder)) {
    const cwd = join(folder, name);
    const path = join(cwd, "package.json");
    if (!existsSync(path)) continue;
    const { scripts = {} }: { scripts?: Record<string, string> } = JSON.parse(readFileSync(path, "utf8"));
    for (const [key, script] of Object.entries(scripts))
      if (/^bench(:|$)/.test(key)) found.set(key.replace(/^bench/, name), { script, cwd });
  }
  return found;
}
