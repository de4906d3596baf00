/** Runs a step of the default training for every line of standard input and answers with its wall and CPU time in ms. */
import { createInterface } from "node:readline";
import { createOps } from "@dflash/ops";
import { startBenchEngine } from "./startBenchEngine.ts";
import { createTrainingStep, firstBatches } from "./trainingStep.ts";

const [name = "wasm", threads, form] = process.argv.slice(2);
const engine = await startBenchEngine(name, Number(threads));
const ops = createOps(engine, { fused: form === "fused" });
const step = await createTrainingStep(ops, await firstBatches(8));
for await (const _ of createInterface({ input: process.stdin })) {
  const [start, cpuStart] = [performance.now(), process.cpuUsage()];
  await step.run();
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuStart);
  console.log(JSON.stringify({ wall, cpu: (user + system) / 1000 }));
}
step.dispose();
engine.dispose();
