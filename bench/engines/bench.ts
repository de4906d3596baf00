/**
 * Prints, as Markdown, what a training step takes on each engine beside PyTorch's in the same run: the test model, also on
 * jax-js, and the default DFlash step. `--rows wasm,jax-js` runs only the rows whose name has one of the words in it.
 */
import { existsSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { engineProblem } from "@dflash/engine";
import { firstBatches } from "@dflash/bench-ops/trainingStep";
import { timeWorkers, type Worker, type WorkerTimes } from "./timeWorkers.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    threads: { type: "string", default: "2" },
    rows: { type: "string", default: "" },
    gpu: { type: "boolean", default: false },
  },
});
const { rounds, threads, gpu } = values;
const words = values.rows.toLowerCase().split(",");
const chosen = ({ name }: Worker): boolean => words.some((word) => name.toLowerCase().includes(word));
const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

// Packed for another machine, the worker is JavaScript.
const worker = existsSync(path("worker.js")) ? [path("worker.js")] : ["--import", "tsx", path("worker.ts")];
const engine = (step: string, name: string, ...more: string[]): string[] => [
  process.execPath,
  ...worker,
  "--case",
  step,
  "--engine",
  name,
  "--threads",
  threads,
  ...more,
];
const { CUDA_VISIBLE_DEVICES: devices } = process.env;
const problem = await engineProblem("tensorflow", { resolveFrom: path("../../apps/trainer") });
// Trying that engine hides GPUs from it, and would from the processes of the rows.
if (devices === undefined) delete process.env["CUDA_VISIBLE_DEVICES"];
const engines = (step: string): Worker[] =>
  [
    { name: "tensorflow, fp32 products", command: engine(step, "tensorflow") },
    { name: "tensorflow, bf16 products", command: engine(step, "tensorflow", "--precision", "bf16") },
    { name: "tensorflow, composed", command: engine(step, "tensorflow", "--composed") },
    { name: "wasm", command: engine(step, "wasm") },
    ...(gpu ? [{ name: "webgpu", command: engine(step, "webgpu") }] : []),
  ].filter(({ name }) => problem === null || !name.startsWith("tensorflow"));

/** PyTorch's rows of a step, by the command for an attention and a device. */
const peers = (command: (attention: string, device: string) => string[]): Worker[] => [
  { name: "PyTorch, eager attention", command: command("eager", "cpu") },
  { name: "PyTorch, SDPA, fused AdamW", command: command("sdpa", "cpu") },
  ...(gpu ? [{ name: "PyTorch on CUDA, SDPA, fused AdamW", command: command("sdpa", "cuda") }] : []),
];
const batches = JSON.stringify((await firstBatches(8)).map(({ rowStarts }) => [...rowStarts]));

console.log(`Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, ${threads} threads\n`);
if (problem !== null) console.log(`tensorflow is left out: ${problem}\n`);
print(
  "test model",
  await timeWorkers(
    [
      ...peers((attention, device) => ["python3", path("pytorch.py"), attention, threads, device]),
      ...engines("language-model"),
      {
        name: "jax-js, wasm",
        command: [process.execPath, "--import", "tsx", path("jaxWorker.ts"), "--threads", threads],
      },
    ].filter(chosen),
    Number(rounds),
  ),
);
print(
  "default DFlash step",
  await timeWorkers(
    [
      ...peers((attention, device) => ["python3", path("../ops/pytorch.py"), batches, threads, attention, device]),
      ...engines("dflash"),
    ].filter(chosen),
    Number(rounds),
  ),
);

function print(title: string, times: readonly WorkerTimes[]): void {
  const [peerTimes] = times;
  if (peerTimes === undefined) return;
  console.log(
    `| ${title} | median ms | p10 to p90 | n | speed beside ${peerTimes.name} | least CPU ms | peak MiB | dispatches | last loss |`,
  );
  console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
  for (const { name, wall, cpu, losses, dispatches, peakMiB } of times) {
    if (wall.length === 0) {
      console.log(`| ${name} | not run | | | | | | | |`);
      continue;
    }
    const spread = `${at(wall, 0.1).toFixed(0)} to ${at(wall, 0.9).toFixed(0)}`;
    const speed = peerTimes.wall.length > 0 ? (at(peerTimes.wall, 0.5) / at(wall, 0.5)).toFixed(2) : "";
    console.log(
      `| ${name} | ${at(wall, 0.5).toFixed(0)} | ${spread} | ${wall.length} | ${speed} | ${at(cpu, 0).toFixed(0)} | ` +
        `${peakMiB?.toFixed(0) ?? ""} | ${dispatches ?? ""} | ${losses.at(-1)?.toFixed(5) ?? ""} |`,
    );
  }
  console.log();
}

function at(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(share * times.length)]!;
}
