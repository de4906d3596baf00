import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import { openSafetensors, writeSafetensors, type TensorData } from "@dflash/safetensors";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadCausalLM } from "./causalLM.ts";
import { loadTargetHead } from "./targetHead.ts";
import { openTargetFixture, type TargetFixture } from "./targetFixture.test-support.ts";

describe("the weights of a model folder", () => {
  let ops: Ops;
  let tied: TargetFixture;
  let untied: TargetFixture;
  beforeAll(async () => {
    ops = createOps(await startEngine("cpu"));
  });
  beforeEach(async () => {
    tied = await openTargetFixture("target-qwen3-tied");
    untied = await openTargetFixture("target-qwen3-untied-yarn");
  });
  afterEach(async () => {
    await tied.remove();
    await untied.remove();
  });
  afterAll(() => ops.engine.dispose());

  it("hold the head alone, tied or not", async () => {
    for (const { dir } of [tied, untied]) {
      const head = await loadTargetHead(dir, { ops });
      const file = await openSafetensors(join(dir, "model.safetensors"));
      const lmHead = dir === tied.dir ? "model.embed_tokens.weight" : "lm_head.weight";
      expect([head.vocabSize, head.hiddenSize]).toEqual([97, 48]);
      expect(await head.embedTokens.read()).toEqual(await file.readFloat32("model.embed_tokens.weight"));
      expect(await head.lmHead.read()).toEqual(await file.readFloat32(lmHead));
      expect(await head.finalNorm.read()).toEqual(await file.readFloat32("model.norm.weight"));
      expect(head.normEpsilon).toBe(1e-6);
      expect(head.lmHead === head.embedTokens).toBe(dir === tied.dir);
      await file.close();
      head.dispose();
      expect(ops.engine.memory().tensors).toBe(0);
    }
  });

  it("are refused, and freed, when one is missing or of another shape than the config says", async () => {
    const file = await openSafetensors(join(tied.dir, "model.safetensors"));
    const weights: Record<string, TensorData> = {};
    for (const name of file.tensors.keys()) weights[name] = await file.read(name);
    await file.close();
    delete weights["model.layers.4.mlp.up_proj.weight"];
    await writeSafetensors(join(tied.dir, "model.safetensors"), weights);
    await expect(loadCausalLM(tied.dir, { ops })).rejects.toThrow(
      `${tied.dir}: tensor model.layers.4.mlp.up_proj.weight is missing, expected shape [80, 48]`,
    );
    const config = join(untied.dir, "config.json");
    await writeFile(config, (await readFile(config, "utf8")).replace('"head_dim":16', '"head_dim":8'));
    await expect(loadCausalLM(untied.dir, { ops })).rejects.toThrow(
      `${untied.dir}: tensor model.layers.0.self_attn.q_proj.weight has shape [96, 48], expected [48, 48] by ${config}`,
    );
    await rm(join(untied.dir, "model.safetensors"));
    await expect(loadTargetHead(untied.dir, { ops })).rejects.toThrow(
      `${untied.dir}: holds neither model.safetensors nor`,
    );
    expect(ops.engine.memory().tensors).toBe(0);
  });
});
