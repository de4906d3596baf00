/** Prints, as Markdown, what building DFlash block masks takes beside PyTorch's create_block_mask, which must give the same masks. */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { cases, describe } from "./cases.ts";
import { measure, measureMemory, measurePyTorch, type Result } from "./measure.ts";

const { values: steps } = parseArgs({
  options: { "step-ms": { type: "string" }, "pytorch-step-ms": { type: "string" } },
});
const peers = measurePyTorch();
const medians: number[] = [];

console.log(`Node ${process.version}, ${cpus()[0]?.model}, one thread; PyTorch: ${peers[0]?.device ?? "not run"}\n`);
console.log("| S × anchors × block | builder | median ms | p10 to p90 | first | n | × ours | of its step |");
console.log("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
for (const measured of cases) {
  const { built, expanded } = measure(measured, 1500);
  medians.push(built.median);
  printTimes(built, built, steps["step-ms"]);
  printTimes(expanded, built, steps["step-ms"]);
  for (const peer of peers.filter((p) => describe(p.case) === describe(measured))) {
    if (peer.fingerprint !== built.fingerprint)
      throw new Error(`${peer.builder} builds another mask: ${describe(measured)}`);
    printTimes(peer, built, steps["pytorch-step-ms"]);
  }
}
console.log(
  "\n| S × anchors × block | tiles listed | ns a tile | held as built, MiB | with FlexAttention's arrays, MiB |",
);
console.log("| --- | ---: | ---: | ---: | ---: |");
for (const [i, measured] of cases.entries()) {
  const { tiles, built, expanded } = measureMemory(measured);
  const each = ((1e6 * medians[i]!) / tiles).toFixed(0);
  console.log(`| ${describe(measured)} | ${tiles} | ${each} | ${mebibytes(built)} | ${mebibytes(expanded)} |`);
}

function printTimes(result: Result, base: Result, stepMs: string | undefined): void {
  const share = stepMs === undefined ? "" : `${((100 * result.median) / Number(stepMs)).toFixed(3)} %`;
  const spread = `${result.low.toFixed(2)} to ${result.high.toFixed(2)}`;
  const ratio = (result.median / base.median).toFixed(result === base ? 0 : 1);
  console.log(
    `| ${describe(result.case)} | ${result.builder} | ${result.median.toFixed(2)} | ${spread} | ${result.first.toFixed(1)} | ${result.n} | ${ratio} | ${share} |`,
  );
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(2);
}
