import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createDrafterConfig, type DrafterConfig } from "./drafterConfig.ts";
import { formatDrafterConfig } from "./formatDrafterConfig.ts";
import { parseDrafterConfig } from "./parseDrafterConfig.ts";

const target = {
  hiddenSize: 4096,
  intermediateSize: 12288,
  layers: 36,
  heads: 32,
  kvHeads: 8,
  headDim: 128,
  vocabSize: 151936,
  maxPositions: 40960,
  epsilon: 1e-6,
  ropeTheta: 1e6,
};

function qwen(changes: Partial<Omit<Parameters<typeof createDrafterConfig>[0], "target">> = {}): DrafterConfig {
  return createDrafterConfig({
    target,
    layers: 5,
    blockSize: 16,
    targetLayerIds: [1, 9, 17, 25, 33],
    maskTokenId: 151669,
    ...changes,
  });
}

/** A file as `formatDrafterConfig` writes it, with changes at the top and in `dflash_config`. */
function file(top: Record<string, unknown>, dflash: Record<string, unknown> = {}): Record<string, unknown> {
  const json = formatDrafterConfig(qwen());
  return { ...json, dflash_config: Object.assign({}, json["dflash_config"], dflash), ...top };
}

test("a new config takes its shape from the target and its depth from the options", () => {
  expect(qwen()).toMatchObject({ hiddenSize: 4096, layers: 5, targetLayers: 36, slidingWindow: null });
  expect(qwen().layerTypes).toEqual([
    "full_attention",
    "full_attention",
    "full_attention",
    "full_attention",
    "full_attention",
  ]);
});

test("a drafter may have a width of its own, and sliding layers", () => {
  const config = qwen({
    layers: 2,
    size: { intermediateSize: 6144, kvHeads: 4, headDim: 64 },
    layerTypes: ["sliding_attention", "full_attention"],
    slidingWindow: 2048,
  });
  expect(config).toMatchObject({ hiddenSize: 4096, intermediateSize: 6144, heads: 32, kvHeads: 4, headDim: 64 });
  expect(config).toMatchObject({ layerTypes: ["sliding_attention", "full_attention"], slidingWindow: 2048 });
  expect(() => qwen({ layers: 1, layerTypes: ["sliding_attention"] })).toThrow(
    "drafter config: slidingWindow is missing, expected an integer from 1 to",
  );
});

test("writing and reading gives the same config", () => {
  expect(parseDrafterConfig(JSON.parse(JSON.stringify(formatDrafterConfig(qwen()))), "config.json")).toEqual(qwen());
});

test("a file says block size and rotary base in both places", () => {
  const json = formatDrafterConfig(qwen());
  expect(json).toMatchObject({
    block_size: 16,
    dflash_config: { block_size: 16 },
    rope_theta: 1e6,
    rope_parameters: { rope_theta: 1e6, rope_type: "default" },
  });
});

test("a file may say block size and rotary base in either place", () => {
  expect(parseDrafterConfig(file({ block_size: undefined, rope_theta: undefined }), "f")).toEqual(qwen());
  expect(parseDrafterConfig(file({ rope_parameters: undefined }, { block_size: undefined }), "f")).toEqual(qwen());
});

test("a file may say what to mask and to capture at the top", () => {
  const { mask_token_id, target_layer_ids } = { mask_token_id: 7, target_layer_ids: [2, 5] };
  const json = { ...file({ mask_token_id, target_layer_ids }), dflash_config: {} };
  expect(parseDrafterConfig(json, "f")).toMatchObject({ maskTokenId: 7, targetLayerIds: [2, 5], blockSize: 16 });
});

test("reads the config of a drafter that PyTorch wrote", () => {
  const published = new URL("../../../../fixtures/drafter-b8/config.json", import.meta.url);
  const json: Record<string, unknown> = JSON.parse(readFileSync(published, "utf8"));
  const config = parseDrafterConfig(json, "drafter-b8/config.json");
  expect(config.blockSize).toBe(json["block_size"]);
  expect(config.layers).toBe(json["num_hidden_layers"]);
  expect(config.headDim).toBe(json["head_dim"]);
});

test("sliding layers keep their window", () => {
  const layerTypes = [
    "sliding_attention",
    "sliding_attention",
    "sliding_attention",
    "sliding_attention",
    "full_attention",
  ];
  const config = parseDrafterConfig(file({ layer_types: layerTypes, sliding_window: 2048 }), "f");
  expect(config).toMatchObject({ layerTypes, slidingWindow: 2048 });
  expect(formatDrafterConfig(config)).toMatchObject({ use_sliding_window: true, sliding_window: 2048 });
});

test.each([
  [file({ hidden_size: "4096" }), 'f: hidden_size is "4096", expected an integer from 1 to 131072'],
  [file({ head_dim: undefined }), "f: head_dim is missing, expected an integer from 1 to 1024"],
  [
    file({ max_position_embeddings: 1e12 }),
    "f: max_position_embeddings is 1000000000000, expected an integer from 1 to 1073741824",
  ],
  [file({ num_attention_heads: 30 }), "f: num_attention_heads is 30, expected a multiple of the 8 key-value heads"],
  [
    file({}, { mask_token_id: 151936 }),
    "f: dflash_config.mask_token_id is 151936, expected an integer from 0 to 151935",
  ],
  [
    file({}, { target_layer_ids: [1, 36] }),
    "f: dflash_config.target_layer_ids is [1,36], expected a list of layers from 0 to 35",
  ],
  [file({}, { block_size: 8 }), "f: block_size is 8, expected 16"],
  [file({ mask_token_id: 5 }), "f: mask_token_id is 151669, expected 5"],
  [file({ is_causal: true }), "f: is_causal is true, expected false"],
  [
    file({ is_causal: false, layer_types: Array(5).fill("sliding_attention"), sliding_window: 8 }),
    "f: is_causal is false, expected null",
  ],
  [file({ output_multiplier: 0.5 }), "f: output_multiplier is 0.5, expected 1"],
  [file({}, { final_logit_softcapping: 30 }), "f: final_logit_softcapping is 30, expected 0"],
  [file({}, { projector_type: "domino" }), 'f: projector_type is "domino", expected "dflash"'],
  [file({ rope_scaling: { type: "yarn", factor: 4 } }), 'f: type is "yarn", expected "default"'],
  [
    file({ layer_types: ["sliding_attention"], sliding_window: 8 }),
    'f: layer_types is ["sliding_attention"], expected a type for each of the 5 layers',
  ],
  [file({ layer_types: undefined, use_sliding_window: true }), "f: use_sliding_window is true, expected false"],
  [file({ dflash_config: undefined }), "f: dflash_config is missing, expected an object"],
  [[], "f: the file is [], expected an object"],
])("refuses a file whose value is wrong, %#", (json, message) => {
  expect(() => parseDrafterConfig(json, "f")).toThrow(message);
});

test("refuses a mask token that ends or pads the text, and says what to take", () => {
  expect(() => qwen({ eosTokenId: 151645, padTokenId: 151643 })).not.toThrow();
  expect(() => qwen({ eosTokenId: 151669 })).toThrow(
    "drafter config: maskTokenId is 151669, the end token of the text, expected one of its own; take a row of the embedding that no token uses",
  );
  expect(() => qwen({ padTokenId: 151669 })).toThrow("maskTokenId is 151669, the padding token of the text, expected");
});

test("refuses options that are wrong by the option's name", () => {
  expect(() => qwen({ layers: 1e9 })).toThrow(
    "drafter config: layers is 1000000000, expected an integer from 1 to 1024",
  );
  expect(() => qwen({ blockSize: 1 })).toThrow("drafter config: blockSize is 1, expected an integer from 2 to 1024");
  expect(() => qwen({ maskTokenId: -1 })).toThrow("drafter config: maskTokenId is -1, expected");
  expect(() => qwen({ targetLayerIds: [] })).toThrow("drafter config: targetLayerIds is [], expected a list");
});
