import { startEngine, type Engine } from "@dflash/engine";
import { createOps, type Ops, type Tensor } from "@dflash/ops";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadCausalLM } from "./causalLM.ts";
import { openTargetFixture } from "./targetFixture.test-support.ts";

async function expectClose(actual: Tensor, expected: Float32Array): Promise<void> {
  const values = await actual.read();
  expect(values.length).toBe(expected.length);
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const error = expected.reduce((most, value, i) => Math.max(most, Math.abs(value - values[i]!)), 0);
  expect(error / largest).toBeLessThanOrEqual(1e-4);
}

describe.each(["cpu", "wasm"] as const)("hidden states and logits match PyTorch on %s", (name) => {
  let engine: Engine;
  let ops: Ops;
  beforeAll(async () => {
    engine = await startEngine(name);
    ops = createOps(engine);
  });
  afterAll(() => engine.dispose());

  it.each(["target-qwen3-tied", "target-qwen3-untied-yarn", "target-qwen2-bias", "target-llama3-rope"])("%s", async (name) => {
    const { dir, batch, expected, remove } = await openTargetFixture(name);
    const model = await loadCausalLM(dir, { ops });
    const { layers, head, config } = model;
    const embedded = ops.embedding(head.embedTokens, batch.ids);
    const { features, last } = model.forward(batch, { layerIds: [...Array(layers).keys()], captureLast: true });
    await expectClose(embedded, await expected("hidden_states/0"));
    for (let layer = 0; layer + 1 < layers; layer++) {
      await expectClose(features[layer]!, await expected(`hidden_states/${layer + 1}`));
    }
    await expectClose(ops.rmsNorm(last!, head.finalNorm, config.epsilon), await expected(`hidden_states/${layers}`));
    await expectClose(model.logits(last!), await expected("logits"));
    await remove();
  });
});
