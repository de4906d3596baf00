/**
 * Prints, as Markdown, the default run with the target inline and in a worker, in turn, and what the inline logs predicted. Run
 * folders are left in the fourth argument, where one is given.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readLog, type StepRecord } from "@dflash/log-formatter";

const [roundsText = "3", steps = "50", engine = "wasm", kept] = process.argv.slice(2);
const main = fileURLToPath(new URL("../../apps/trainer/src/main.ts", import.meta.url));
const folder = kept ?? mkdtempSync(join(tmpdir(), "placement-"));
const placements: Record<string, readonly string[]> = {
  "inline, 1 thread": ["--target-workers", "0", "--threads", "1"],
  "inline, 2 threads": ["--target-workers", "0", "--threads", "2"],
  "a worker, 1 + 1 threads": ["--target-workers", "1", "--threads", "1"],
  "a worker, 2 + 2 threads": ["--target-workers", "1", "--threads", "2"],
};
const names = Object.keys(placements);
/** What the log of the first of each is asked, and which then shows whether it was right. */
const pairs = [
  ["inline, 1 thread", "a worker, 1 + 1 threads"],
  ["inline, 2 threads", "a worker, 2 + 2 threads"],
] as const;
const results = new Map<string, Result[]>(names.map((name) => [name, []]));

interface Result {
  readonly msPerStep: number;
  readonly tokensPerSecond: number;
  /** Share of the target's busy time in which the drafter was busy too. */
  readonly overlap: number | null;
  readonly waitShare: number;
  /** Processor time over wall time. */
  readonly cores: number;
  readonly verdict: string;
}

function dflash(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", main, ...args], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

async function run(name: string, out: string): Promise<Result> {
  dflash("train", "--engine", engine, "--steps", steps, ...placements[name]!, "--out", out);
  const records: StepRecord[] = [];
  for await (const record of readLog(join(out, "log.ndjson"))) if (record.kind === "step") records.push(record);
  // The first steps compile, and fill the queue.
  const counted = records.slice(5);
  const sum = (of: (record: StepRecord) => number): number => counted.reduce((total, record) => total + of(record), 0);
  const ms = sum((record) => record.ms);
  const overlaps = counted.flatMap(({ lanes }) => lanes["target[0]"]?.overlap ?? []);
  return {
    msPerStep: ms / counted.length,
    tokensPerSecond: (1000 * sum(({ metrics }) => metrics["tokens"] ?? 0)) / ms,
    overlap: overlaps.length === 0 ? null : overlaps.reduce((total, share) => total + share, 0) / overlaps.length,
    waitShare: sum(({ lanes }) => lanes["drafter"]!.wait_ms) / ms,
    cores: sum(({ metrics }) => metrics["cpu_ms"] ?? 0) / ms,
    verdict: records.at(-1)!.verdict?.cause ?? "-",
  };
}

console.log(
  `Node ${process.version}, ${cpus()[0]?.model}, ${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(1)}, ${steps} steps\n`,
);
for (let round = 0; round < Number(roundsText); round++) {
  for (const [i, name] of names.entries()) {
    const result = await run(name, join(folder, `${i}-${round}`));
    results.get(name)!.push(result);
    process.stderr.write(`${name}: ${JSON.stringify(result)}\n`);
  }
}
console.log(
  "| target | ms a step, median (least to most) | tokens/s | drafter waits | overlap | cores busy | last verdict |",
);
console.log("| --- | ---: | ---: | ---: | ---: | ---: | --- |");
for (const [name, all] of results) {
  const sorted = all.toSorted((a, b) => a.msPerStep - b.msPerStep);
  const middle = sorted[Math.floor(sorted.length / 2)]!;
  const range = `${sorted[0]!.msPerStep.toFixed(0)} to ${sorted.at(-1)!.msPerStep.toFixed(0)}`;
  const overlap = middle.overlap === null ? "-" : `${(100 * middle.overlap).toFixed(0)} %`;
  console.log(
    `| ${name} | ${middle.msPerStep.toFixed(0)} (${range}) | ${middle.tokensPerSecond.toFixed(0)} | ${(100 * middle.waitShare).toFixed(0)} % | ${overlap} | ${middle.cores.toFixed(2)} | ${middle.verdict} |`,
  );
}

const list = (ratios: readonly number[]): string => ratios.map((ratio) => ratio.toFixed(2)).join(", ");
console.log("\n| from | to | rate predicted, by round | measured, by round |");
console.log("| --- | --- | ---: | ---: |");
for (const [from, to] of pairs) {
  const rates = (name: string): number[] => results.get(name)!.map(({ tokensPerSecond }) => tokensPerSecond);
  const measured = rates(to).map((rate, round) => rate / rates(from)[round]!);
  console.log(`| ${from} | ${to} | ${list(measured.map((_, round) => predicted(from, round)))} | ${list(measured)} |`);
}
if (kept === undefined) rmSync(folder, { recursive: true });

/** How many times as fast a worker would make a run, by its log. */
function predicted(name: string, round: number): number {
  const answer = dflash("log", join(folder, `${names.indexOf(name)}-${round}`), "--what-if", "target-workers=1");
  const gain = /^predicted .*\(([+-][\d.]+) %\)/m.exec(answer)?.[1];
  if (gain === undefined) throw new Error(`dflash log --what-if printed no prediction: ${answer}`);
  return 1 + Number(gain) / 100;
}
