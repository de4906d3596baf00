/** Takes a drafter's step for every line of standard input; answers with its times and the process's memory. */
import { createInterface } from "node:readline";
import {
  adamW,
  clipByGlobalNorm,
  createDrafter,
  createDrafterConfig,
  createTrainStep,
  randomWeights,
  type TrainBatch,
} from "@dflash/drafter";
import { engineNames, startEngine } from "@dflash/engine";
import { createOps, type Tensor } from "@dflash/ops";
import { createTimer } from "@dflash/timer";
import type { StepCase } from "./cases.ts";

const [engineName = "wasm", threads = "1", form = "fused", text = ""] = process.argv.slice(2);
const shape: StepCase = JSON.parse(text);
const { hiddenSize, vocabSize, rows, length, prompt, features: captured } = shape;
const engine = await startEngine(engineNames.find((name) => name === engineName) ?? "wasm", {
  threads: Number(threads),
  // Where the native engines are installed.
  resolveFrom: `${import.meta.dirname}/../../apps/trainer`,
});
const ops = createOps(engine, { fused: form === "fused" });
const idle = process.memoryUsage.rss();

const timer = createTimer();
timer.enabled = false;
const config = createDrafterConfig({
  target: { ...shape, layers: 3 * captured, maxPositions: 4096, epsilon: 1e-6, ropeTheta: 10_000 },
  layers: shape.layers,
  blockSize: shape.blockSize,
  targetLayerIds: Array.from({ length: captured }, (_, i) => 3 * i),
  maskTokenId: 3,
});
const drafter = await createDrafter({ ops, config, timer, weights: randomWeights(0, 0.02) });
const random = async (count: number, width: number, name: string): Promise<Tensor> =>
  ops.upload(await randomWeights(1, 1)(name, [count, width]), [count, width], { frozen: true });
const embedTokens = await random(vocabSize, hiddenSize, "embedding");
const frozen = { embedTokens, lmHead: embedTokens, finalNorm: embedTokens, normEpsilon: 1e-6 };
const head = { vocabSize, hiddenSize, ...frozen, dispose() {} };
const tokens = rows * length;
const features = await random(tokens, captured * hiddenSize, "features");
const optimizer = [clipByGlobalNorm({ ops }), adamW({ ops, learningRate: () => 1e-4 })];
const step = createTrainStep({ drafter, head, ops, timer, optimizer, anchorsPerRow: shape.anchors, seed: 0 });

let index = 0;
for await (const _ of createInterface({ input: process.stdin })) {
  const batch: TrainBatch = {
    index: index++,
    ids: Int32Array.from({ length: tokens }, (__, i) => (i * 7919) % vocabSize),
    lossMask: Uint8Array.from({ length: tokens }, (__, i) => Number(i % length >= prompt)),
    rowStarts: Int32Array.from({ length: rows + 1 }, (__, row) => row * length),
    features,
    last: null,
    dispose() {},
  };
  const [start, cpuStart] = [performance.now(), process.cpuUsage()];
  await step.accumulate(batch);
  await step.update();
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuStart);
  const peak = 1024 * process.resourceUsage().maxRSS;
  console.log(JSON.stringify({ wall, cpu: (user + system) / 1000, peak, idle }));
}
engine.dispose();
