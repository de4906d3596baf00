/** Prints, as Markdown, what building DFlash block masks takes beside PyTorch's create_block_mask, which must give the same masks. */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import type { BlockMask } from "@dflash/block-mask";
import { cases, describe } from "./cases.ts";
import { measure, measurePyTorch, type Result } from "./measure.ts";

const { values: steps } = parseArgs({
  options: { "step-ms": { type: "string" }, "pytorch-step-ms": { type: "string" } },
});
const peers = measurePyTorch();
const ours = cases.map((measured) => measure(measured, 1500));

console.log(`Node ${process.version}, ${cpus()[0]?.model}, one thread; PyTorch: ${peers[0]?.device ?? "not run"}\n`);
console.log("| S × anchors × block | builder | median ms | p10 to p90 | first | n | × ours | of its step |");
console.log("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
for (const { result } of ours) {
  printTimes(result, result, steps["step-ms"]);
  for (const peer of peers.filter((p) => describe(p.case) === describe(result.case))) {
    if (peer.fingerprint !== result.fingerprint)
      throw new Error(`${peer.builder} builds another mask: ${describe(peer.case)}`);
    printTimes(peer, result, steps["pytorch-step-ms"]);
  }
}
console.log("\n| S × anchors × block | tiles listed | ns a tile | index arrays, MiB | row ranges, MiB |");
console.log("| --- | ---: | ---: | ---: | ---: |");
for (const { result, mask } of ours) printSizes(result, mask);

function printTimes(result: Result, base: Result, stepMs: string | undefined): void {
  const share = stepMs === undefined ? "" : `${((100 * result.median) / Number(stepMs)).toFixed(3)} %`;
  const spread = `${result.low.toFixed(2)} to ${result.high.toFixed(2)}`;
  const ratio = (result.median / base.median).toFixed(result === base ? 0 : 1);
  console.log(
    `| ${describe(result.case)} | ${result.builder} | ${result.median.toFixed(2)} | ${spread} | ${result.first.toFixed(1)} | ${result.n} | ${ratio} | ${share} |`,
  );
}

function printSizes(result: Result, mask: BlockMask): void {
  const tiles = [mask.kvNumBlocks, mask.fullKvNumBlocks]
    .flatMap((counts) => [...counts])
    .reduce((sum, count) => sum + count, 0);
  const indices = [mask.kvIndices, mask.fullKvIndices, mask.qIndices, mask.fullQIndices].reduce(
    (sum, a) => sum + a.byteLength,
    0,
  );
  const ranges = 16 * mask.qLen;
  console.log(
    `| ${describe(result.case)} | ${tiles} | ${((1e6 * result.median) / tiles).toFixed(0)} | ${(indices / 2 ** 20).toFixed(2)} | ${(ranges / 2 ** 20).toFixed(2)} |`,
  );
}
