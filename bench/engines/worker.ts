/** Runs a training step on an engine for every line of standard input and answers with its figures. */
import { parseArgs } from "node:util";
import { startEngine, type EngineName } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { createTrainingStep, firstBatches } from "@dflash/bench-ops/trainingStep";
import { answerSteps } from "./answerSteps.ts";
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
await answerSteps(step, () => engine.counters.kernels);
process.exit(0);
