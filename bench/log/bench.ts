import { fork } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { build } from "tsdown";
import { formatCases, stepCases } from "./cases.ts";

/** Processes a case: each measures on its own, so that no case runs on what the compiler learned from another. */
const processes = Number(process.argv[2] ?? 3);

interface Times {
  hot: number[];
  cold: number[];
}

/** The code as it is published: bundled, without the loader that runs TypeScript. */
async function bundle(): Promise<string> {
  const outDir = join(import.meta.dirname, "dist");
  const entry = { measure: join(import.meta.dirname, "measure.ts") };
  await build({
    config: false,
    logLevel: "silent",
    entry,
    outDir,
    dts: false,
    noExternal: [/^@dflash\//],
    fixedExtension: false,
  });
  return join(outDir, "measure.js");
}

function measure(script: string, name: string): Promise<Times> {
  return new Promise((resolve, reject) => {
    const child = fork(script, [name], { execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
    child.once("message", (times: Times) => resolve(times));
    child.once("exit", (code) => {
      if (code !== 0) reject(new Error(`measuring ${name} ended with code ${code}`));
    });
  });
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;

async function table(script: string, title: string, names: readonly string[], base: string): Promise<void> {
  const all = new Map(names.map((name): [string, Times] => [name, { hot: [], cold: [] }]));
  // Turn and turn about: a busy minute of the machine falls on every case alike.
  for (let turn = 0; turn < processes; turn++) {
    for (const name of names) {
      const { hot, cold } = await measure(script, name);
      all.get(name)!.hot.push(...hot);
      all.get(name)!.cold.push(...cold);
    }
  }
  const rows = [...all].map(([name, { hot, cold }]) => ({
    name,
    hot: hot.toSorted((a, b) => a - b),
    cold: cold.toSorted((a, b) => a - b),
  }));
  const of = rows.find(({ name }) => name === base)!;
  console.log(
    `\n| ${title} | least µs | median µs | 10-90 % | median against ${base} | median µs, cold caches |\n|---|---|---|---|---|---|`,
  );
  for (const { name, hot, cold } of rows) {
    const median = quantile(hot, 0.5);
    const cells = [
      name,
      hot[0]!.toFixed(2),
      median.toFixed(2),
      `${quantile(hot, 0.1).toFixed(2)}-${quantile(hot, 0.9).toFixed(2)}`,
      `${(median / quantile(of.hot, 0.5)).toFixed(2)}×`,
      quantile(cold, 0.5).toFixed(1),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
  console.log(
    `\nn = up to ${rows[0]!.hot.length} rounds of 128 records hot and ${rows[0]!.cold.length} single calls cold, from ${processes} processes a row.`,
  );
}

const script = await bundle();
const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown CPU"}`;
console.log(`${machine}, load ${loadavg()[0]!.toFixed(1)} at the start, ${new Date().toISOString().slice(0, 10)}.`);
await table(script, "record to bytes, 16 sections", Object.keys(formatCases), "JSON.stringify");
await table(script, "whole step", Object.keys(stepCases), "24 sections timed, no line");
