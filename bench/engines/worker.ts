/** Runs a training step on an engine for every line of standard input and answers with its figures. */
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { startEngine, type EngineName } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { createTrainingStep, firstBatches } from "@dflash/bench-ops/trainingStep";
import { createLanguageModelStep } from "./languageModel.ts";

const { values } = parseArgs({
  options: {
    case: { type: "string", default: "language-model" },
    engine: { type: "string", default: "wasm" },
    threads: { type: "string", default: "2" },
    precision: { type: "string", default: "fp32" },
    composed: { type: "boolean", default: false },
  },
});
// oxlint-disable-next-line no-unsafe-type-assertion -- startEngine checks the name
const engine = await startEngine(values.engine as EngineName, {
  threads: Number(values.threads),
  matmulPrecision: values.precision === "bf16" ? "bf16" : "fp32",
  resolveFrom: `${import.meta.dirname}/../../apps/trainer`,
});
const ops = createOps(engine, { fused: !values.composed });
const step =
  values.case === "dflash" ? await createTrainingStep(ops, await firstBatches(8)) : createLanguageModelStep(ops);
for await (const _ of createInterface({ input: process.stdin })) {
  const { kernels } = engine.counters;
  const [start, cpuStart] = [performance.now(), process.cpuUsage()];
  const loss = await step.run();
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuStart);
  const dispatches = engine.counters.kernels - kernels;
  console.log(JSON.stringify({ wall, cpu: (user + system) / 1000, loss, dispatches }));
}
process.exit(0);
