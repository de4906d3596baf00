import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { configFields, type ConfigFields } from "./configFields.ts";
import { parseRope, type Rope } from "./rope.ts";

/** What a causal language model's `config.json` says about its computation. */
export interface CausalLMConfig {
  /** V */
  readonly vocabSize: number;
  /** H */
  readonly hiddenSize: number;
  /** I, the width of the MLP. */
  readonly intermediateSize: number;
  /** L, the number of decoder layers. */
  readonly layers: number;
  /** Query heads of each layer. */
  readonly heads: number;
  /** Heads of keys and values; each serves `heads / kvHeads` query heads. */
  readonly kvHeads: number;
  /** Width of a head. */
  readonly headDim: number;
  /** Positions that the model was made for, `max_position_embeddings`. */
  readonly maxPositions: number;
  /** ε of every RMSNorm. */
  readonly epsilon: number;
  /** How positions turn queries and keys. */
  readonly rope: Rope;
  /** Whether the LM head is the embedding; its weight is not in the file then. */
  readonly tied: boolean;
  /** RMSNorm on each head of the queries and keys (Qwen3). */
  readonly queryKeyNorm: boolean;
  /** Biases on the query, key and value projections (Qwen2). */
  readonly projectionBias: boolean;
}

type Family = Pick<CausalLMConfig, "queryKeyNorm" | "projectionBias"> & Record<"architectures" | "model_type", string>;

const families: readonly Family[] = [
  { architectures: "Qwen3ForCausalLM", model_type: "qwen3", queryKeyNorm: true, projectionBias: false },
  { architectures: "Qwen2ForCausalLM", model_type: "qwen2", queryKeyNorm: false, projectionBias: true },
  { architectures: "LlamaForCausalLM", model_type: "llama", queryKeyNorm: false, projectionBias: false },
];

/**
 * Reads `config.json` of a model folder in the Hugging Face layout.
 *
 * @throws {Error} One line with the file, the key, the value and what was expected; also for an architecture or a variant
 * (sliding window, activation, rope type, quantisation) that isn't supported.
 */
export async function readCausalLMConfig(dir: string): Promise<CausalLMConfig> {
  const file = join(dir, "config.json");
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file}: can't be read (${error.code}), expected the config.json of a model folder`, {
      cause: error,
    });
  });
  try {
    return parseCausalLMConfig(JSON.parse(text), file);
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new Error(`${file}: not JSON (${error.message.replace(/\s+/g, " ")})`, { cause: error });
    throw error;
  }
}

/** More than any model has. */
const mostLayers = 10_000;

/** Checks the parsed JSON of a `config.json`; `file` names it in errors. */
export function parseCausalLMConfig(json: unknown, file: string): CausalLMConfig {
  const config = configFields(file, json);
  const family = findFamily(config);
  refuseVariants(config, family);
  const hiddenSize = config.count("hidden_size");
  const heads = config.count("num_attention_heads");
  const kvHeads = config.count("num_key_value_heads", heads);
  if (heads % kvHeads !== 0) config.refuse("num_key_value_heads", `a divisor of num_attention_heads, ${heads}`);
  const layers = config.count("num_hidden_layers");
  // Their weights are listed before they are looked for.
  if (layers > mostLayers) config.refuse("num_hidden_layers", `at most ${mostLayers}`);
  const headDim = config.count("head_dim", hiddenSize / heads);
  if (headDim % 2 !== 0) config.refuse("head_dim", "an even number");
  return {
    vocabSize: config.count("vocab_size"),
    hiddenSize,
    intermediateSize: config.count("intermediate_size"),
    layers,
    heads,
    kvHeads,
    headDim,
    maxPositions: config.count("max_position_embeddings"),
    epsilon: config.positive("rms_norm_eps"),
    rope: parseRope(config),
    tied: config.boolean("tie_word_embeddings", false),
    queryKeyNorm: family.queryKeyNorm,
    projectionBias: family.projectionBias,
  };
}

/** By `architectures`, or by `model_type` in a config saved without them. */
function findFamily(config: ConfigFields): Family {
  const key = config.has("architectures") ? "architectures" : "model_type";
  const name = key === "architectures" ? config.strings(key)[0] : config.string(key);
  const family = families.find((known) => known[key] === name);
  return family ?? config.refuse(key, `one of ${families.map((known) => known[key]).join(", ")}`);
}

function refuseVariants(config: ConfigFields, { projectionBias }: Family): void {
  config.only("hidden_act", "silu");
  config.only("attention_bias", projectionBias);
  config.only("mlp_bias", false);
  if (config.has("quantization_config"))
    config.refuse("quantization_config", "none: quantised weights are not supported");
  if (config.boolean("use_sliding_window", false) && config.has("sliding_window")) {
    config.refuse("sliding_window", "none: sliding windows are not supported");
  }
  if (config.has("layer_types") && config.strings("layer_types").some((type) => type !== "full_attention")) {
    config.refuse("layer_types", '"full_attention" in every layer: other kinds are not supported');
  }
}
