import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseCausalLMConfig, readCausalLMConfig } from "./causalLMConfig.ts";
import { tinyTarget } from "./targetFixture.test-support.ts";

const qwen3 = {
  architectures: ["Qwen3ForCausalLM"],
  model_type: "qwen3",
  vocab_size: 97,
  hidden_size: 48,
  intermediate_size: 80,
  num_hidden_layers: 5,
  num_attention_heads: 6,
  num_key_value_heads: 2,
  head_dim: 16,
  hidden_act: "silu",
  max_position_embeddings: 4096,
  rms_norm_eps: 1e-6,
  rope_theta: 1e6,
  tie_word_embeddings: true,
  use_sliding_window: false,
  sliding_window: 4096,
};

const parse = (changes: object): ReturnType<typeof parseCausalLMConfig> =>
  parseCausalLMConfig({ ...qwen3, ...changes }, "m/config.json");

describe("a config.json is read", () => {
  it("of the committed tiny target", async () => {
    expect(await readCausalLMConfig(tinyTarget)).toEqual({
      vocabSize: 4096,
      hiddenSize: 256,
      intermediateSize: 768,
      layers: 8,
      heads: 8,
      kvHeads: 4,
      headDim: 32,
      maxPositions: 2048,
      epsilon: 1e-6,
      rope: { type: "default", theta: 10_000 },
      tied: true,
      queryKeyNorm: true,
      projectionBias: false,
    });
  });

  it("with rope_theta in rope_parameters, or beside the older rope_scaling", () => {
    const scaled = { type: "linear", theta: 5e5, factor: 4 };
    expect(parse({}).rope).toEqual({ type: "default", theta: 1e6 });
    expect(
      parse({ rope_theta: null, rope_parameters: { rope_type: "linear", rope_theta: 5e5, factor: 4 } }).rope,
    ).toEqual(scaled);
    expect(parse({ rope_theta: 5e5, rope_scaling: { type: "linear", factor: 4 } }).rope).toEqual(scaled);
    expect(parse({ rope_scaling: null }).rope).toEqual({ type: "default", theta: 1e6 });
  });

  it("without architectures, by its model_type", () => {
    const { queryKeyNorm, projectionBias, headDim } = parse({
      architectures: null,
      model_type: "qwen2",
      head_dim: null,
    });
    expect({ queryKeyNorm, projectionBias, headDim }).toEqual({
      queryKeyNorm: false,
      projectionBias: true,
      headDim: 8,
    });
  });
});

describe("a config.json that can't be computed is refused in one line with file, key, value and what was expected", () => {
  const families = "Qwen3ForCausalLM, Qwen2ForCausalLM, LlamaForCausalLM";
  it.each<[object, string]>([
    [{ architectures: ["GemmaForCausalLM"] }, `architectures is ["GemmaForCausalLM"], expected one of ${families}`],
    [{ architectures: "Qwen3ForCausalLM" }, 'architectures is "Qwen3ForCausalLM", expected a list of strings'],
    [{ architectures: null, model_type: "gpt2" }, 'model_type is "gpt2", expected one of qwen3, qwen2, llama'],
    [{ hidden_act: "gelu" }, 'hidden_act is "gelu", expected "silu"'],
    [{ attention_bias: true }, "attention_bias is true, expected false"],
    [{ use_sliding_window: true }, "sliding_window is 4096, expected none: sliding windows are not supported"],
    [
      { layer_types: ["full_attention", "sliding_attention"] },
      'layer_types is ["full_attention","sliding_attention"], expected "full_attention" in every layer: other kinds are not supported',
    ],
    [
      { quantization_config: { bits: 4 } },
      'quantization_config is {"bits":4}, expected none: quantised weights are not supported',
    ],
    [
      { rope_scaling: { type: "longrope" } },
      'rope_scaling.type is "longrope", expected "default", "linear", "llama3" or "yarn"',
    ],
    [{ rope_scaling: { rope_type: "yarn" } }, "rope_scaling.factor is missing, expected a number above 0"],
    [{ rope_theta: undefined }, "rope_theta is missing, expected a number above 0"],
    [{ partial_rotary_factor: 0.5 }, "partial_rotary_factor is 0.5, expected 1"],
    [{ num_hidden_layers: 1e9 }, "num_hidden_layers is 1000000000, expected at most 10000"],
    [{ num_hidden_layers: 1.5 }, "num_hidden_layers is 1.5, expected a whole number above 0"],
    [{ vocab_size: "97" }, 'vocab_size is "97", expected a whole number above 0'],
    [{ num_key_value_heads: 4 }, "num_key_value_heads is 4, expected a divisor of num_attention_heads, 6"],
    [{ head_dim: 15 }, "head_dim is 15, expected an even number"],
    [{ rms_norm_eps: 0 }, "rms_norm_eps is 0, expected a number above 0"],
    [{ tie_word_embeddings: "yes" }, 'tie_word_embeddings is "yes", expected true or false'],
    [{ rope_parameters: [1] }, "rope_parameters is [1], expected an object"],
  ])("%j", (changes, message) => {
    expect(() => parse(changes)).toThrow(new Error(`m/config.json: ${message}`));
  });

  it("a file that is missing, no JSON or no object", async () => {
    const dir = await mkdtemp(join(tmpdir(), "config-"));
    const file = join(dir, "config.json");
    await expect(readCausalLMConfig(dir)).rejects.toThrow(
      `${file}: can't be read (ENOENT), expected the config.json of a model folder`,
    );
    await writeFile(file, '{\n"vocab_size": 97,\n');
    await expect(readCausalLMConfig(dir)).rejects.toThrow(new RegExp(`^${file}: not JSON \\(.+\\)$`));
    await writeFile(file, "[]");
    await expect(readCausalLMConfig(dir)).rejects.toThrow(`${file}: the file is [], expected an object`);
    await rm(dir, { recursive: true });
  });
});
