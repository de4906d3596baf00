import type { DrafterConfig } from "../config/drafterConfig.ts";

/** The trainable parameters by their name in a checkpoint, with their shapes [out, in] or [width], in the order of computation. */
export function parameterShapes(config: DrafterConfig): Map<string, readonly number[]> {
  const { hiddenSize, intermediateSize, headDim } = config;
  const queryWidth = config.heads * headDim;
  const keyWidth = config.kvHeads * headDim;
  const shapes = new Map<string, readonly number[]>([
    ["fc.weight", [hiddenSize, config.targetLayerIds.length * hiddenSize]],
    ["hidden_norm.weight", [hiddenSize]],
  ]);
  for (let layer = 0; layer < config.layers; layer++) {
    const add = (name: string, ...shape: number[]): void => void shapes.set(`layers.${layer}.${name}.weight`, shape);
    add("input_layernorm", hiddenSize);
    add("self_attn.q_proj", queryWidth, hiddenSize);
    add("self_attn.k_proj", keyWidth, hiddenSize);
    add("self_attn.v_proj", keyWidth, hiddenSize);
    add("self_attn.q_norm", headDim);
    add("self_attn.k_norm", headDim);
    add("self_attn.o_proj", hiddenSize, queryWidth);
    add("post_attention_layernorm", hiddenSize);
    add("mlp.gate_proj", intermediateSize, hiddenSize);
    add("mlp.up_proj", intermediateSize, hiddenSize);
    add("mlp.down_proj", hiddenSize, intermediateSize);
  }
  return shapes.set("norm.weight", [hiddenSize]);
}
