/**
 * Prints, as Markdown, what the default training step takes on an engine beside PyTorch's, each op fused beside composed, and
 * what a dispatch costs. `--engine` names the engine; `--rounds 0` leaves the step out.
 */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { formatTimes } from "./measure.ts";
import { startBenchEngine } from "./startBenchEngine.ts";
import { timeDispatches } from "./timeDispatches.ts";
import { timeOps } from "./timeOps.ts";
import { timeSteps } from "./timeSteps.ts";
import { firstBatches } from "./trainingStep.ts";

const { values } = parseArgs({
  options: {
    engine: { type: "string", default: "wasm" },
    rounds: { type: "string", default: "40" },
    threads: { type: "string", default: "2" },
    ms: { type: "string", default: "3000" },
  },
});
const rounds = Number(values.rounds);

const lengths = (await firstBatches(8)).map(({ ids }) => ids.length);
console.log(
  `Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores; ${Math.min(...lengths)} to ${Math.max(...lengths)} tokens a step\n`,
);
if (rounds > 0) await printSteps();

const engine = await startBenchEngine(values.engine, Number(values.threads));
const on = `${engine.name}, ${engine.threads} threads`;
console.log(
  `| op, forward and backward, ${on} | fused, median ms | p10 to p90 | n | composed | p10 to p90 | n | ratio |`,
);
console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
for (const { name, fused, composed } of await timeOps(engine, Number(values.ms))) {
  const ratio = (composed.median / fused.median).toFixed(1);
  console.log(`| ${name} | ${formatTimes(fused)} | ${formatTimes(composed)} | ${ratio} |`);
}

console.log(`\n| op on 4 numbers, ${on} | median µs a call | p10 to p90 | n | kernels | µs a kernel |`);
console.log("| --- | ---: | ---: | ---: | ---: | ---: |");
for (const { name, call, kernels } of await timeDispatches(engine, 40)) {
  const each = kernels > 0 ? (call.median / kernels).toFixed(1) : "";
  console.log(`| ${name} | ${formatTimes(call)} | ${kernels} | ${each} |`);
}
engine.dispose();

async function printSteps(): Promise<void> {
  const steps = await timeSteps(values.engine, rounds);
  const peer = steps[0]?.times;
  console.log("| default step | median ms | p10 to p90 | n | × PyTorch | least CPU ms, all threads |");
  console.log("| --- | ---: | ---: | ---: | ---: | ---: |");
  for (const { name, times } of steps) {
    const ratio = times && peer ? (times.wall.median / peer.wall.median).toFixed(2) : "";
    console.log(
      `| ${name} | ${times === null ? "not run | | " : formatTimes(times.wall)} | ${ratio} | ${times?.cpu.least.toFixed(0) ?? ""} |`,
    );
  }
  console.log();
}
