import type { ConfigFields } from "./configFields.ts";

/** How rotary frequencies are made; the names are Hugging Face's rope types. */
export type Rope =
  | { readonly type: "default"; readonly theta: number }
  | { readonly type: "linear"; readonly theta: number; readonly factor: number }
  | {
      readonly type: "llama3";
      readonly theta: number;
      readonly factor: number;
      readonly lowFrequencyFactor: number;
      readonly highFrequencyFactor: number;
      readonly originalPositions: number;
    }
  | {
      readonly type: "yarn";
      readonly theta: number;
      readonly factor: number;
      readonly betaFast: number;
      readonly betaSlow: number;
      readonly originalPositions: number;
      readonly truncate: boolean;
      /** Scale of cos and sin. */
      readonly attentionFactor: number;
    };

/**
 * The rope settings of a Hugging Face `config.json`: nested in `rope_parameters` (Transformers 5), or as `rope_theta`
 * beside `rope_scaling` (older).
 */
export function parseRope(config: ConfigFields): Rope {
  const key = config.has("rope_scaling") ? "rope_scaling" : "rope_parameters";
  const nested = config.has(key) ? config.object(key) : undefined;
  const theta = nested?.has("rope_theta") ? nested.positive("rope_theta") : config.positive("rope_theta");
  const typeKey = nested?.has("rope_type") || !nested?.has("type") ? "rope_type" : "type";
  const type = nested?.has(typeKey) ? nested.string(typeKey) : "default";
  config.only("partial_rotary_factor", 1);
  nested?.only("partial_rotary_factor", 1);
  if (!nested || type === "default") return { type: "default", theta };
  const factor = (): number => nested.positive("factor");
  const originalPositions = (): number =>
    config.has("original_max_position_embeddings")
      ? config.count("original_max_position_embeddings")
      : nested.has("original_max_position_embeddings")
        ? nested.count("original_max_position_embeddings")
        : config.count("max_position_embeddings");
  switch (type) {
    case "linear":
      return { type, theta, factor: factor() };
    case "llama3":
      return {
        type,
        theta,
        factor: factor(),
        lowFrequencyFactor: nested.positive("low_freq_factor"),
        highFrequencyFactor: nested.positive("high_freq_factor"),
        originalPositions: originalPositions(),
      };
    case "yarn":
      return {
        type,
        theta,
        factor: factor(),
        betaFast: nested.positive("beta_fast", 32),
        betaSlow: nested.positive("beta_slow", 1),
        originalPositions: originalPositions(),
        truncate: nested.boolean("truncate", true),
        attentionFactor: nested.has("attention_factor") ? nested.positive("attention_factor") : yarnScale(nested),
      };
    default:
      return nested.refuse(typeKey, '"default", "linear", "llama3" or "yarn"');
  }
}

/** YaRN's attention factor (arXiv 2309.00071, equation 22), with DeepSeek's `mscale` pair where both are given. */
function yarnScale(nested: ConfigFields): number {
  const factor = nested.positive("factor");
  const scale = (m: number): number => (factor <= 1 ? 1 : 0.1 * m * Math.log(factor) + 1);
  return nested.has("mscale") && nested.has("mscale_all_dim")
    ? scale(nested.positive("mscale")) / scale(nested.positive("mscale_all_dim"))
    : scale(1);
}
