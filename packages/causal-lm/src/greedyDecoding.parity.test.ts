import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { expect, it } from "vitest";
import { loadCausalLM } from "./causalLM.ts";
import { fixtures, tinyTarget, tokenBatch } from "./targetFixture.test-support.ts";

interface Prompt {
  readonly prompt_ids: readonly number[];
  readonly greedy_ids: readonly number[];
}

it("the tiny target continues prompts greedily as PyTorch does, all of them in one packed batch", async () => {
  const { prompts }: { prompts: Prompt[] } = JSON.parse(await readFile(join(fixtures, "spec-decode.json"), "utf8"));
  const rows = prompts.map(({ prompt_ids, greedy_ids }) => [...prompt_ids, ...greedy_ids]);
  const batch = tokenBatch(
    Int32Array.from(rows.flat()),
    rows.map((row) => row.length),
  );
  const ops = createOps(await startEngine("wasm"));
  const model = await loadCausalLM(tinyTarget, { ops });
  const { last } = model.forward(batch, { layerIds: [0], captureLast: true });
  const predictions = await ops.argmax(model.logits(last!)).read();
  prompts.forEach(({ prompt_ids, greedy_ids }, row) => {
    const first = batch.rowStarts[row]! + prompt_ids.length - 1;
    expect(predictions.slice(first, first + greedy_ids.length)).toEqual(Int32Array.from(greedy_ids));
  });
  ops.engine.dispose();
});
