import { startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { createTargetForwardLoop, type TokenBatch } from "@dflash/target-forward";
import { createTimer, type ReportSnapshot } from "@dflash/timer";
import { expect, it } from "vitest";
import { loadCausalLM } from "./causalLM.ts";
import { tinyTarget, tokenBatch } from "./targetFixture.test-support.ts";

async function* batches(): AsyncGenerator<TokenBatch> {
  for (let index = 0; index < 6; index++) {
    const lengths = [3 + index, 8 - index];
    const ids = Int32Array.from({ length: 11 }, (_, token) => 17 * index + 5 * token);
    yield { ...tokenBatch(ids, lengths), index };
  }
}

it("the target-forward loop delivers the tiny target's hidden states, times its parts and keeps no tensor", async () => {
  const ops = createOps(await startEngine("wasm", { threads: 1 }));
  const timer = createTimer({ lane: "drafter" });
  const reports: ReportSnapshot[] = [];
  timer.on("report", (report) => reports.push(report.snapshot()));
  const model = await loadCausalLM(tinyTarget, { ops, timer });
  const untimed = await loadCausalLM(tinyTarget, { ops });
  const layerIds = [1, 2, 3, 4, 5];
  const loop = createTargetForwardLoop({ model, ops, batches: batches(), layerIds, timer });
  const iterator = loop[Symbol.asyncIterator]();
  const live: number[] = [];
  for await (const batch of batches()) {
    const { value: packed } = await timer.step(() => iterator.next());
    const { features } = untimed.forward(batch, { layerIds });
    expect(packed).toMatchObject({ ...batch, last: null });
    expect(packed!.features.shape).toEqual([11, 5 * 256]);
    const joined = ops.concat(features, -1);
    expect(await packed!.features.read()).toEqual(await joined.read());
    [...features, joined, packed!].forEach((held) => held.dispose());
    live.push(ops.engine.memory().tensors);
  }
  expect((await iterator.next()).done).toBe(true);
  expect(new Set(live).size).toBe(1);
  for (const { sections, unbalanced } of reports) {
    expect(unbalanced).toBe(0);
    expect(sections).toMatchObject({
      data: { parent: "queue/wait", count: 1 },
      "target/forward": { parent: "queue/wait", count: 1 },
      "target/attention": { parent: "target/forward", count: 6 },
      "target/mlp": { parent: "target/forward", count: 6 },
      "target/capture": { parent: "target/forward", count: 6 },
      "target/pack": { parent: "queue/wait", count: 1 },
    });
  }
  ops.engine.dispose();
});
