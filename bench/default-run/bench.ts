/** Prints, as Markdown, what the default run learns and where its time goes. Arguments are flags of `dflash train`. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readLog, type StepRecord, type SummaryRecord } from "@dflash/log-formatter";

const main = fileURLToPath(new URL("../../apps/trainer/src/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "default-run-"));
const out = join(folder, "run");
const load = loadavg()[0]!.toFixed(1);
const start = performance.now();
const { status } = spawnSync(
  process.execPath,
  ["--import", "tsx", main, "train", ...process.argv.slice(2), "--out", out],
  { stdio: ["ignore", "ignore", "inherit"] },
);
if (status !== 0) throw new Error(`dflash train ended with exit code ${status}`);
const wallS = (performance.now() - start) / 1000;

const steps: StepRecord[] = [];
let summary: SummaryRecord | undefined;
for await (const record of readLog(join(out, "log.ndjson"))) {
  if (record.kind === "step") steps.push(record);
  if (record.kind === "summary") summary = record;
}
const result: { engine: string; total_ms: number; tokens_per_s: number } & Record<
  "loss_by_fifth" | "accuracy_by_fifth",
  number[]
> = JSON.parse(readFileSync(join(out, "summary.json"), "utf8"));
rmSync(folder, { recursive: true });

console.log(
  `Node ${process.version}, ${cpus()[0]?.model}, ${availableParallelism()} cores, load ${load} at the start; engine ${result.engine}, ${steps.length} steps\n`,
);
console.log("| | 1st fifth | 2nd | 3rd | 4th | 5th |\n| --- | ---: | ---: | ---: | ---: | ---: |");
for (const [name, values] of [
  ["mean loss", result.loss_by_fifth],
  ["mean accuracy", result.accuracy_by_fifth],
] as const)
  console.log(`| ${name} | ${values.map((value) => value?.toFixed(3) ?? "-").join(" | ")} |`);

const { "(step)": whole, ...sections } = summary?.sections ?? {};
const ms = (value: number | null | undefined): string => value?.toFixed(2) ?? "-";
console.log(
  `\n${wallS.toFixed(0)} s from start to exit, ${(result.total_ms / 1000).toFixed(1)} s of it in steps, ${result.tokens_per_s.toFixed(0)} tokens/s. A step took ${ms(whole?.p50)} ms (p50), ${ms(whole?.p90)} ms (p90), ${ms(whole?.p99)} ms (p99):\n`,
);
console.log("| section | share of the wall time | p50, ms | p90, ms |\n| --- | ---: | ---: | ---: |");
for (const [name, { n, sum_ms: sum, p50, p90 }] of Object.entries(sections))
  if (n > 0) console.log(`| ${name} | ${((100 * sum) / result.total_ms).toFixed(1)} % | ${ms(p50)} | ${ms(p90)} |`);
