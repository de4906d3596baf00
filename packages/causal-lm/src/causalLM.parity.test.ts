import { startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import { afterAll, beforeAll, expect, it } from "vitest";
import { loadCausalLM } from "./causalLM.ts";
import { describeEngines, engineOptions } from "./describeEngines.test-support.ts";
import { mismatches } from "./mismatches.test-support.ts";
import { openTargetFixture } from "./targetFixture.test-support.ts";

const cases = ["target-qwen3-tied", "target-qwen3-untied-yarn", "target-qwen2-bias", "target-llama3-rope"];

describeEngines(["cpu", "wasm", "tensorflow", "webgpu"], (engineName) => {
  let ops: Ops;
  beforeAll(async () => {
    ops = createOps(await startEngine(engineName, engineOptions));
  });
  afterAll(() => ops.engine.dispose());

  it.each(cases)("hidden states and logits of %s match PyTorch", async (name) => {
    const fixture = await openTargetFixture(name);
    const model = await loadCausalLM(fixture.dir, { ops });
    const { layers, head, config } = model;
    const { batch } = fixture;
    const { features, last } = model.forward(batch, { layerIds: [...Array(layers).keys()], captureLast: true });
    const computed = {
      "hidden_states/0": ops.embedding(head.embedTokens, batch.ids),
      ...Object.fromEntries(features.map((feature, layer) => [`hidden_states/${layer + 1}`, feature])),
      [`hidden_states/${layers}`]: ops.rmsNorm(last!, head.finalNorm, config.epsilon),
      logits: model.logits(last!),
    };
    expect(await mismatches(computed, fixture.expected)).toEqual([]);
    await fixture.remove();
  });
});
