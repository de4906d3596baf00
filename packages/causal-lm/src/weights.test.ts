import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { openSafetensors, writeSafetensors, type TensorData } from "@dflash/safetensors";
import { describe, expect, it, onTestFinished } from "vitest";
import { loadCausalLM } from "./causalLM.ts";
import { parseCausalLMConfig } from "./causalLMConfig.ts";
import { parameterBytes, parameterShapes } from "./parameterShapes.ts";
import { openTargetFixture } from "./targetFixture.test-support.ts";

const qwen3 = {
  architectures: ["Qwen3ForCausalLM"],
  vocab_size: 151_936,
  hidden_size: 1024,
  intermediate_size: 3072,
  num_hidden_layers: 28,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  head_dim: 128,
  hidden_act: "silu",
  max_position_embeddings: 40_960,
  rms_norm_eps: 1e-6,
  rope_theta: 1_000_000,
  tie_word_embeddings: true,
};

/** A model folder whose bfloat16 file is all hole: as long as it says, and nothing on the disk. */
async function hollowModel(config: object): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "hollow-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, "config.json"), JSON.stringify(config));
  let end = 0;
  const entries = [...parameterShapes(parseCausalLMConfig(config, "config.json"))].map(([name, shape]) => {
    const begin = end;
    end += shape.reduce((size, extent) => size * extent, 2);
    return [name, { dtype: "BF16", shape, data_offsets: [begin, end] }];
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const file = join(dir, "model.safetensors");
  await writeFile(file, Buffer.concat([length, header]));
  await truncate(file, 8 + header.length + end);
  return dir;
}

describe("the weights of a checkpoint", () => {
  it("of Qwen3-0.6B are 596,049,920 parameters", () => {
    expect(parameterBytes(parameterShapes(parseCausalLMConfig(qwen3, "config.json")))).toBe(4 * 596_049_920);
  });

  it("are refused before they are loaded when the engine can't hold them", async () => {
    const dir = await hollowModel({ ...qwen3, num_hidden_layers: 60 });
    const ops = createOps(await startEngine("wasm", { threads: 1 }));
    const bytes =
      4 * (151_936 * 1024 + 1024 + 60 * (3 * 1024 * 3072 + 2 * 1024 * 2048 + 2 * 1024 * 1024 + 2 * 1024 + 256));
    await expect(loadCausalLM(dir, { ops })).rejects.toThrow(
      `${dir}: the weights need ${bytes} bytes as float32, the wasm engine has room for 4294967296; use another engine`,
    );
    expect(ops.engine.memory()).toMatchObject({ tensors: 0, bytes: 0 });
    ops.engine.dispose();
  });

  it("that hold a NaN or an infinity are refused by tensor, file and element, and nothing stays loaded", async () => {
    const fixture = await openTargetFixture("target-qwen3-tied");
    const ops = createOps(await startEngine("cpu"));
    const file = join(fixture.dir, "model.safetensors");
    const stored = await openSafetensors(file);
    const tensors: Record<string, TensorData> = {};
    for (const [name, { shape }] of stored.tensors)
      tensors[name] = { dtype: "BF16", shape, data: await stored.readFloat32(name) };
    await stored.close();
    const name = "model.layers.1.mlp.up_proj.weight";
    for (const value of [NaN, -Infinity]) {
      tensors[name]!.data[5] = value;
      await writeSafetensors(file, tensors);
      await expect(loadCausalLM(fixture.dir, { ops })).rejects.toThrow(
        `${file}: tensor ${name} holds ${value} at element 5, expected finite numbers; download or convert the model again`,
      );
      expect(ops.engine.memory()).toMatchObject({ tensors: 0, bytes: 0 });
    }
    ops.engine.dispose();
    await fixture.remove();
  });

  it("may lie in shards, as bfloat16, float16 or float32", async () => {
    const fixture = await openTargetFixture("target-qwen3-untied-yarn");
    const ops = createOps(await startEngine("cpu"));
    const file = join(fixture.dir, "model.safetensors");
    const read = async (): Promise<Float32Array> => {
      const model = await loadCausalLM(fixture.dir, { ops });
      const [feature] = model.forward(fixture.batch, { layerIds: [model.layers - 1] }).features;
      const values = await feature!.read();
      feature!.dispose();
      model.dispose();
      expect(ops.engine.memory().tensors).toBe(0);
      return Float32Array.from(values);
    };
    const whole = await read();
    const stored = await openSafetensors(file);
    const dtypes = ["BF16", "F16", "F32"] as const;
    const shards: Record<string, TensorData>[] = [{}, {}, {}];
    for (const [i, name] of [...stored.tensors.keys()].entries()) {
      const { shape } = stored.tensors.get(name)!;
      shards[i % 3]![name] = { dtype: dtypes[i % 3]!, shape, data: await stored.readFloat32(name) };
    }
    await stored.close();
    await rm(file);
    const weightMap: Record<string, string> = {};
    for (const [i, shard] of shards.entries()) {
      const name = `model-0000${i + 1}-of-00003.safetensors`;
      await writeSafetensors(join(fixture.dir, name), shard);
      for (const tensor of Object.keys(shard)) weightMap[tensor] = name;
    }
    await writeFile(join(fixture.dir, "model.safetensors.index.json"), JSON.stringify({ weight_map: weightMap }));
    const sharded = await read();
    const largest = whole.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    // bfloat16 keeps eight bits of each weight: about 1/256 of it.
    whole.forEach((value, i) => expect(Math.abs(value - sharded[i]!)).toBeLessThan(0.05 * largest));
    expect(sharded).not.toEqual(whole);
    ops.engine.dispose();
    await fixture.remove();
  });
});
