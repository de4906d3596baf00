/**
 * A Qwen3 of 0.6 B random parameters, by hand: writes it with PyTorch, loads and runs it here, compares, and prints times and
 * peak memory. Needs python3 with torch and transformers, 4 GB of disk and 8 GB of memory.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadCausalLM } from "@dflash/causal-lm";
import { engineNames, startEngine } from "@dflash/engine";
import { createOps, type Tensor } from "@dflash/ops";
import { openSafetensors } from "@dflash/safetensors";
import type { TokenBatch } from "@dflash/target-forward";

const [folder = join(tmpdir(), "qwen3-0.6b-random"), engineName = "wasm"] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
if (!existsSync(join(folder, "reference.safetensors"))) {
  const python = spawnSync("python3", [fileURLToPath(new URL("qwen3.py", import.meta.url)), folder], {
    stdio: "inherit",
  });
  if (python.status !== 0) throw new Error("qwen3.py failed");
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
const peak = (): string => mebibytes(process.resourceUsage().maxRSS * 1024);
const row = (length: number): TokenBatch => ({
  index: 0,
  ids: Int32Array.from({ length }, (_, i) => (i * 7919) % 151_936),
  lossMask: new Uint8Array(length),
  rowStarts: Int32Array.of(0, length),
});

console.log(`Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}`);
const resolveFrom = fileURLToPath(new URL("../../apps/trainer", import.meta.url));
const engine = await startEngine(engineNames.find((name) => name === engineName) ?? "auto", { resolveFrom });
const ops = createOps(engine);
console.log(`${engine.description}; ${peak()} before loading`);
const reference = await openSafetensors(join(folder, "reference.safetensors"));
let wrong = 0;

async function compare(name: string, values: ArrayLike<number>): Promise<void> {
  const expected = await reference.readFloat32(name);
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const error = expected.reduce((most, value, i) => Math.max(most, Math.abs(value - values[i]!)), 0) / largest;
  if (!(error <= 1e-4)) wrong++;
  console.log(`  ${name.padEnd(9)} largest error ${error.toExponential(1)} of the largest value`);
}

let start = performance.now();
const took = (): string => {
  const seconds = (performance.now() - start) / 1000;
  start = performance.now();
  return `${seconds.toFixed(1)} s`;
};
const model = await loadCausalLM(folder, { ops });
const { bytes } = engine.memory();
console.log(`loaded in ${took()}: ${mebibytes(bytes)} of weights on the engine, peak ${peak()}`);

const layerIds = [0, 6, 13, 20, 26];
const { features, last } = model.forward(row(256), { layerIds, captureLast: true });
const logits = ops.scope(() => model.logits(ops.slice(last!, 255, 256)));
const read = async (tensor: Tensor): Promise<ArrayLike<number>> => tensor.read();
await read(logits);
console.log(`256 tokens through 28 layers in ${took()}, peak ${peak()}`);
for (const [i, id] of layerIds.entries()) await compare(`short/${id + 1}`, await read(features[i]!));
await compare("logits", await read(logits));
for (const tensor of [...features, last!, logits]) tensor.dispose();

start = performance.now();
const far = model.forward(row(30_000), { layerIds: [0] }).features[0]!;
const end = ops.slice(far, 30_000 - 64, 30_000);
const values = await read(end);
console.log(`30,000 tokens through one layer in ${took()}, peak ${peak()}`);
await compare("far", values);
console.log(wrong === 0 ? "all within 1e-4" : `${wrong} are off by more than 1e-4`);
process.exitCode = wrong === 0 ? 0 : 1;
await reference.close();
engine.dispose();
