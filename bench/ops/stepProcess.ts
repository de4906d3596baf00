/** Runs a step of the default training for every line of standard input and answers with its time in ms. */
import { createInterface } from "node:readline";
import { startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { createTrainingStep, firstBatches } from "./trainingStep.ts";

const [threads, form] = process.argv.slice(2);
const engine = await startEngine("wasm", { threads: Number(threads) });
const ops = createOps(engine, { fused: form === "fused" });
const step = await createTrainingStep(ops, await firstBatches(8));
for await (const _ of createInterface({ input: process.stdin })) {
  const start = performance.now();
  await step.run();
  console.log(performance.now() - start);
}
step.dispose();
engine.dispose();
