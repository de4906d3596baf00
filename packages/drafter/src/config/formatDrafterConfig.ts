import type { DrafterConfig } from "./drafterConfig.ts";

/** Float types that a drafter's weights are saved in. */
export type WeightType = "BF16" | "F32";

/**
 * The content of `config.json` in the published layout. What moved between versions stands in both places: block size at
 * the top and in `dflash_config`, the rotary base in `rope_parameters` and as `rope_theta`.
 */
export function formatDrafterConfig(config: DrafterConfig, weights: WeightType = "BF16"): Record<string, unknown> {
  return {
    architectures: ["DFlashDraftModel"],
    auto_map: { AutoModel: "dflash.DFlashDraftModel" },
    model_type: "qwen3",
    dtype: weights === "BF16" ? "bfloat16" : "float32",
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headDim,
    hidden_act: "silu",
    attention_bias: false,
    attention_dropout: 0,
    rms_norm_eps: config.epsilon,
    initializer_range: config.initializerRange,
    vocab_size: config.vocabSize,
    tie_word_embeddings: false,
    max_position_embeddings: config.maxPositions,
    rope_parameters: { rope_type: "default", rope_theta: config.ropeTheta },
    rope_theta: config.ropeTheta,
    rope_scaling: null,
    layer_types: config.layerTypes,
    use_sliding_window: config.slidingWindow !== null,
    sliding_window: config.slidingWindow,
    max_window_layers: config.layers,
    num_target_layers: config.targetLayers,
    block_size: config.blockSize,
    dflash_config: {
      block_size: config.blockSize,
      mask_token_id: config.maskTokenId,
      target_layer_ids: config.targetLayerIds,
    },
  };
}
