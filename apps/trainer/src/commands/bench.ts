import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { Command } from "commander";

const repository = join(import.meta.dirname, "../../../..");

/** Benchmarks by name and the command line of each. */
function benchmarks(): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of readdirSync(join(repository, "bench"))) {
    const path = join(repository, "bench", name, "package.json");
    if (!existsSync(path)) continue;
    const { scripts = {} }: { scripts?: Record<string, string> } = JSON.parse(readFileSync(path, "utf8"));
    if (scripts["bench"] !== undefined) found.set(name, scripts["bench"]);
  }
  return found;
}

/** `dflash bench`: the figures of docs/benchmarks.md, measured here. */
export function benchCommand(): Command {
  const all = benchmarks();
  return new Command("bench")
    .description("measure what docs/benchmarks.md tells, where it needs no GPU; prints ratios with their spread")
    .argument("[names...]", `some of ${[...all.keys()].join(", ")} (default: all, one after the other)`)
    .addHelpText("after", "\nExamples:\n  pnpm dflash bench timer log\n  pnpm dflash bench > figures.txt")
    .action(async (names: string[]) => {
      for (const name of names)
        if (!all.has(name))
          throw new Error(`bench ${name}: no such benchmark; there are ${[...all.keys()].join(", ")}`);
      const failed: string[] = [];
      for (const name of names.length > 0 ? names : all.keys()) {
        console.log(`## ${name}\n`);
        if ((await run(name, all.get(name)!)) !== 0) failed.push(name);
        console.log("");
      }
      if (failed.length > 0) throw new Error(`${failed.join(", ")} failed; what was printed says why`);
    });
}

/** Runs a package's script as its package manager would, in its folder and with its binaries. */
function run(name: string, script: string): Promise<number | null> {
  const cwd = join(repository, "bench", name);
  const binaries = [cwd, repository].map((folder) => join(folder, "node_modules/.bin"));
  const PATH = [...binaries, process.env["PATH"]].join(delimiter);
  const child = spawn(script, { cwd, shell: true, stdio: "inherit", env: { ...process.env, PATH } });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
}
