/** One forward a line of stdin, its features joined, in a process of its own; answers with its times and the memory held at most. */
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { loadCausalLM } from "@dflash/causal-lm";
import { engineNames, startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";

const [dir = "", engineName = "wasm", threads = "1", rows = "1", length = "1", ids = ""] = process.argv.slice(2);
const name = engineNames.find((known) => known === engineName) ?? "auto";
const resolveFrom = fileURLToPath(new URL("../../apps/trainer", import.meta.url));
const engine = await startEngine(name, { threads: Number(threads), resolveFrom });
const ops = createOps(engine);
const model = await loadCausalLM(dir, { ops });
const layerIds = ids.split(",").map(Number);
const tokens = Number(rows) * Number(length);
const batch = {
  index: 0,
  ids: Int32Array.from({ length: tokens }, (_, i) => (i * 7919) % model.config.vocabSize),
  lossMask: new Uint8Array(tokens),
  rowStarts: Int32Array.from({ length: Number(rows) + 1 }, (_, row) => row * Number(length)),
};

for await (const _ of createInterface({ input: process.stdin })) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const { features } = model.forward(batch, { layerIds });
  // What an engine does late, it has done now.
  await features.at(-1)!.read();
  const packing = performance.now();
  const joined = ops.concat(features, -1);
  await engine.sync();
  const end = performance.now();
  const { user, system } = process.cpuUsage(cpu);
  for (const tensor of [...features, joined]) tensor.dispose();
  const peak = process.resourceUsage().maxRSS * 1024;
  process.stdout.write(
    `${JSON.stringify({ wall: end - start, pack: end - packing, cpu: (user + system) / 1000, peak })}\n`,
  );
}
engine.dispose();
