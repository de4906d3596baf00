/** Prints, as Markdown, what the drafter's cache and a draft cost by the positions held. Arguments: engine and threads. */
import { cpus, loadavg } from "node:os";
import { createDrafter, createDrafterConfig, randomWeights } from "@dflash/drafter";
import { engineNames, startEngine } from "@dflash/engine";
import { createOps, type Tensor } from "@dflash/ops";
import { createTimer } from "@dflash/timer";
import { cases } from "./cases.ts";

const [engineName = "wasm", threads = "1"] = process.argv.slice(2);
const rounds = 60;
const appended = 3;
const shape = cases[0]!;
const engine = await startEngine(engineNames.find((name) => name === engineName) ?? "wasm", {
  threads: Number(threads),
  resolveFrom: `${import.meta.dirname}/../../apps/trainer`,
});
const ops = createOps(engine);
const config = createDrafterConfig({
  target: { ...shape, layers: 3 * shape.features, maxPositions: 16_384, epsilon: 1e-6, ropeTheta: 10_000 },
  layers: shape.layers,
  blockSize: shape.blockSize,
  targetLayerIds: Array.from({ length: shape.features }, (_, i) => 3 * i),
  maskTokenId: 3,
});
const drafter = await createDrafter({ ops, config, timer: createTimer(), weights: randomWeights(0, 0.02) });
const random = async (rows: number, width: number): Promise<Tensor> =>
  ops.upload(await randomWeights(1, 1)("features", [rows, width]), [rows, width]);
const few = await random(appended, shape.features * shape.hiddenSize);
const noise = await random(shape.blockSize, shape.hiddenSize);

console.log(
  `Node ${process.version}, ${cpus()[0]?.model}, load ${loadavg()[0]!.toFixed(1)}; ${engine.description}, n = ${rounds}\n`,
);
console.log(
  `| positions held | append of ${appended}, ms | p10 to p90 | draft of ${shape.blockSize} slots, ms | p10 to p90 |`,
);
console.log("| ---: | ---: | ---: | ---: | ---: |");
for (const held of [128, 512, 2048, 8000]) {
  const cache = drafter.createCache();
  const context = await random(held, shape.features * shape.hiddenSize);
  drafter.append([{ cache, count: held }], context);
  context.dispose();
  const [append, draft]: [number[], number[]] = [[], []];
  for (let round = -3; round < rounds; round++) {
    const start = performance.now();
    drafter.append([{ cache, count: appended }], few);
    await engine.sync();
    const between = performance.now();
    const hidden = drafter.draft([cache], noise);
    await hidden.read();
    const end = performance.now();
    hidden.dispose();
    cache.crop(held);
    if (round < 0) continue;
    append.push(between - start);
    draft.push(end - between);
  }
  cache.dispose();
  console.log(`| ${held} | ${spread(append)} | ${spread(draft)} |`);
}
engine.dispose();

function spread(times: readonly number[]): string {
  const at = (share: number): string => times.toSorted((a, b) => a - b)[Math.floor(share * times.length)]!.toFixed(2);
  return `${at(0.5)} | ${at(0.1)} to ${at(0.9)}`;
}
