import { startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import type { TokenBatch } from "@dflash/target-forward";
import { createTimer, type ReportSnapshot } from "@dflash/timer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadCausalLM, type CausalLM } from "./causalLM.ts";
import { tinyTarget, tokenBatch } from "./targetFixture.test-support.ts";

/** Random tokens in rows of the given lengths. */
function randomBatch(lengths: readonly number[]): TokenBatch {
  let state = 1;
  const ids = new Int32Array(lengths.reduce((a, b) => a + b)).map(() => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % 4096;
  });
  return tokenBatch(ids, lengths);
}

describe("a causal language model", () => {
  let ops: Ops;
  let model: CausalLM;
  const reports: ReportSnapshot[] = [];
  const timer = createTimer({ lane: "drafter" });
  timer.on("report", (report) => reports.push(report.snapshot()));

  beforeAll(async () => {
    ops = createOps(await startEngine("wasm", { threads: 1 }));
    model = await loadCausalLM(tinyTarget, { ops, timer });
  });
  afterAll(() => ops.engine.dispose());

  it("stops after the last captured layer, and says in the timer where the forward's time went", () => {
    const { features, last } = timer.step(() => model.forward(randomBatch([9]), { layerIds: [1, 4] }));
    expect(last).toBeNull();
    expect(reports.at(-1)!.sections).toMatchObject({
      "target/attention": { count: 5, lane: "target" },
      "target/mlp": { count: 5, lane: "target" },
      "target/capture": { count: 5, lane: "target" },
    });
    features.forEach((feature) => feature.dispose());
    const all = timer.step(() => model.forward(randomBatch([9]), { layerIds: [1], captureLast: true }));
    expect(reports.at(-1)!.sections["target/mlp"]!.count).toBe(8);
    [...all.features, all.last!].forEach((tensor) => tensor.dispose());
  });

  it("keeps nothing but what was captured", () => {
    model.forward(randomBatch([16]), { layerIds: [0] }).features[0]!.dispose();
    const { tensors } = ops.engine.memory();
    const { features } = model.forward(randomBatch([5, 11]), { layerIds: [5, 1, 5] });
    expect(features.map(({ shape }) => shape)).toEqual([
      [16, 256],
      [16, 256],
      [16, 256],
    ]);
    expect(features[0]).toBe(features[2]);
    expect(ops.engine.memory().tensors).toBe(tensors + 2);
    features.forEach((feature) => feature.dispose());
    const all = model.forward(randomBatch([5, 11]), { layerIds: [7], captureLast: true });
    expect(all.features[0]).toBe(all.last);
    expect(ops.engine.memory().tensors).toBe(tensors + 1);
    all.last!.dispose();
  });

  it("computes rows that are packed together as if each were alone", async () => {
    const batch = randomBatch([7, 1, 12]);
    const packed = model.forward(batch, { layerIds: [7] }).features[0]!;
    const values = await packed.read();
    packed.dispose();
    for (let row = 0; row < 3; row++) {
      const [start, end] = [batch.rowStarts[row]!, batch.rowStarts[row + 1]!];
      const alone = tokenBatch(batch.ids.slice(start, end), [end - start]);
      const feature = model.forward(alone, { layerIds: [7] }).features[0]!;
      const expected = await feature.read();
      feature.dispose();
      expected.forEach((value, i) => expect(values[start * 256 + i]).toBeCloseTo(value, 3));
    }
  });

  it("refuses layers, tokens and rows that there are not, and frees what it had", () => {
    const { tensors } = ops.engine.memory();
    const batch = randomBatch([4, 4]);
    const run =
      (changes: Partial<TokenBatch>, layerIds = [0]) =>
      () =>
        model.forward({ ...batch, ...changes }, { layerIds });
    expect(run({}, [])).toThrow("layerIds is empty, expected the decoder layers to capture");
    expect(run({}, [1, 8])).toThrow("layerIds holds 8, expected decoder layers from 0 to 7");
    expect(run({}, [0.5])).toThrow("layerIds holds 0.5");
    expect(run({ ids: Int32Array.of(1, 2, 3, 4096, 5, 6, 7, 8) })).toThrow(
      "batch 0: token 3 has id 4096, expected 0 to 4095, the target's vocabulary",
    );
    expect(run({ rowStarts: Int32Array.of(0, 7) })).toThrow(
      "batch 0: 8 ids in rows of 7 tokens, expected as many of both",
    );
    expect(run({ rowStarts: Int32Array.of(1, 8) })).toThrow("rowStarts[0] must be 0");
    expect(ops.engine.memory().tensors).toBe(tensors);
  });

  it("frees everything when it is disposed", () => {
    model.dispose();
    expect(ops.engine.memory().tensors).toBe(0);
  });
});
