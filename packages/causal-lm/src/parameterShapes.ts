import type { CausalLMConfig } from "./causalLMConfig.ts";

/** Shapes of weights by their names in a checkpoint. */
export type ParameterShapes = ReadonlyMap<string, readonly number[]>;

/** Embedding, final norm and LM head. A tied LM head is the embedding, and not in the file. */
export function headShapes({ vocabSize, hiddenSize, tied }: CausalLMConfig): ParameterShapes {
  return new Map<string, readonly number[]>([
    ["model.embed_tokens.weight", [vocabSize, hiddenSize]],
    ...(tied ? [] : ([["lm_head.weight", [vocabSize, hiddenSize]]] as const)),
    ["model.norm.weight", [hiddenSize]],
  ]);
}

/** The whole model. */
export function parameterShapes(config: CausalLMConfig): ParameterShapes {
  const { hiddenSize, intermediateSize, heads, kvHeads, headDim } = config;
  const shapes = new Map(headShapes(config));
  for (let layer = 0; layer < config.layers; layer++) {
    const add = (name: string, ...shape: number[]): void => void shapes.set(`model.layers.${layer}.${name}`, shape);
    const project = (name: string, out: number): void => {
      add(`self_attn.${name}.weight`, out, hiddenSize);
      if (config.projectionBias) add(`self_attn.${name}.bias`, out);
    };
    add("input_layernorm.weight", hiddenSize);
    project("q_proj", heads * headDim);
    project("k_proj", kvHeads * headDim);
    project("v_proj", kvHeads * headDim);
    add("self_attn.o_proj.weight", hiddenSize, heads * headDim);
    if (config.queryKeyNorm) for (const name of ["q_norm", "k_norm"]) add(`self_attn.${name}.weight`, headDim);
    add("post_attention_layernorm.weight", hiddenSize);
    add("mlp.gate_proj.weight", intermediateSize, hiddenSize);
    add("mlp.up_proj.weight", intermediateSize, hiddenSize);
    add("mlp.down_proj.weight", hiddenSize, intermediateSize);
  }
  return shapes;
}

/** Bytes of the weights on an engine, as float32. */
export function parameterBytes(shapes: ParameterShapes): number {
  return [...shapes.values()].reduce((sum, shape) => sum + shape.reduce((size, extent) => size * extent, 4), 0);
}
