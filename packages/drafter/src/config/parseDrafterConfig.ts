import { isDeepStrictEqual } from "node:util";
import { checkDrafterConfig } from "./checkDrafterConfig.ts";
import type { DrafterConfig } from "./drafterConfig.ts";
import { jsonObject, refuseField } from "./fieldChecks.ts";

type Json = Readonly<Record<string, unknown>>;

/** Where each field stands in the file. */
const fileNames = {
  hiddenSize: "hidden_size",
  intermediateSize: "intermediate_size",
  layers: "num_hidden_layers",
  heads: "num_attention_heads",
  kvHeads: "num_key_value_heads",
  headDim: "head_dim",
  vocabSize: "vocab_size",
  maxPositions: "max_position_embeddings",
  epsilon: "rms_norm_eps",
  ropeTheta: "rope_theta",
  initializerRange: "initializer_range",
  layerTypes: "layer_types",
  slidingWindow: "sliding_window",
  blockSize: "block_size",
  targetLayers: "num_target_layers",
  targetLayerIds: "dflash_config.target_layer_ids",
  maskTokenId: "dflash_config.mask_token_id",
} as const satisfies Record<keyof DrafterConfig, string>;

/**
 * Reads a drafter's `config.json`, of whichever age: what makes it a drafter at the top or in `dflash_config`, the rotary base in
 * `rope_parameters` or beside it. A drafter that computes otherwise than DFlash is refused.
 *
 * @param json The parsed file.
 * @param place What errors name first, such as the file's path.
 * @throws {Error} One line that names the place, the field, its value and what was expected.
 */
export function parseDrafterConfig(json: unknown, place: string): DrafterConfig {
  const config = jsonObject(json, place, "the file");
  const dflash = jsonObject(config["dflash_config"], place, "dflash_config");
  const rope = jsonObject(config["rope_parameters"] ?? {}, place, "rope_parameters");
  const scaling = jsonObject(config["rope_scaling"] ?? {}, place, "rope_scaling");

  const only = (fields: Json, field: string, allowed: unknown): void => {
    if (fields[field] == null || isDeepStrictEqual(fields[field], allowed)) return;
    refuseField(place, field, fields[field], JSON.stringify(allowed));
  };
  only(config, "hidden_act", "silu");
  only(config, "attention_bias", false);
  only(dflash, "projector_type", "dflash");
  only(dflash, "shift_label", false);
  // Without a say, full layers see all of their block and sliding ones nothing that follows.
  const layerTypes = config["layer_types"];
  only(config, "is_causal", Array.isArray(layerTypes) && layerTypes.includes("sliding_attention") ? null : false);
  for (const fields of [config, dflash]) {
    only(fields, "input_embedding_scale", 1);
    only(fields, "output_multiplier", 1);
    only(fields, "final_logit_softcapping", 0);
  }
  for (const fields of [rope, scaling]) {
    only(fields, "rope_type", "default");
    only(fields, "type", "default");
  }
  // Without the list, which layers slide follows from rules that differ between versions.
  if (layerTypes == null) only(config, "use_sliding_window", false);

  const either = (field: string, outer: Json, inner: Json): unknown => {
    const value = outer[field] ?? inner[field];
    only(inner, field, value);
    return value;
  };
  return checkDrafterConfig(
    place,
    {
      hiddenSize: config["hidden_size"],
      intermediateSize: config["intermediate_size"],
      layers: config["num_hidden_layers"],
      heads: config["num_attention_heads"],
      kvHeads: config["num_key_value_heads"],
      headDim: config["head_dim"],
      vocabSize: config["vocab_size"],
      maxPositions: config["max_position_embeddings"],
      epsilon: config["rms_norm_eps"],
      ropeTheta: either("rope_theta", config, rope),
      initializerRange: config["initializer_range"] ?? 0.02,
      layerTypes: layerTypes ?? undefined,
      slidingWindow: config["sliding_window"],
      blockSize: either("block_size", config, dflash),
      targetLayers: config["num_target_layers"],
      targetLayerIds: either("target_layer_ids", config, dflash),
      maskTokenId: either("mask_token_id", config, dflash),
    },
    (field) => fileNames[field],
  );
}
