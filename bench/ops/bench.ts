/** Prints, as Markdown, what the default training step takes beside PyTorch's, and each op fused beside composed. */
import { cpus } from "node:os";
import { formatTimes } from "./measure.ts";
import { timeOps } from "./timeOps.ts";
import { timeSteps } from "./timeSteps.ts";
import { firstBatches } from "./trainingStep.ts";

const lengths = (await firstBatches(8)).map(({ ids }) => ids.length);
console.log(
  `Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores; ${Math.min(...lengths)} to ${Math.max(...lengths)} tokens a step\n`,
);

const steps = await timeSteps(Number(process.argv[2] ?? 40));
const peer = steps[0]?.times;
console.log("| default step | median ms | p10 to p90 | n | × PyTorch | least CPU ms, all threads |");
console.log("| --- | ---: | ---: | ---: | ---: | ---: |");
for (const { name, times } of steps) {
  const ratio = times && peer ? (times.wall.median / peer.wall.median).toFixed(2) : "";
  console.log(
    `| ${name} | ${times === null ? "not run | | " : formatTimes(times.wall)} | ${ratio} | ${times?.cpu.least.toFixed(0) ?? ""} |`,
  );
}

console.log("\n| op, forward and backward | fused, median ms | p10 to p90 | n | composed | p10 to p90 | n | ratio |");
console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
for (const { name, fused, composed } of await timeOps(3000)) {
  const ratio = (composed.median / fused.median).toFixed(1);
  console.log(`| ${name} | ${formatTimes(fused)} | ${formatTimes(composed)} | ${ratio} |`);
}
