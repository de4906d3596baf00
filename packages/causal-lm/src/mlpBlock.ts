import type { Tensor } from "@dflash/ops";
import type { ForwardContext } from "./attentionBlock.ts";
import type { Weights } from "./weights.ts";

/** Weights of one SwiGLU MLP block. */
export interface MLPWeights {
  readonly norm: Tensor;
  readonly gate: Tensor;
  readonly up: Tensor;
  readonly down: Tensor;
}

/** h + down(silu(gate(x)) · up(x)) with x = norm(h); hidden [T, H]: [T, H]. */
export function mlpBlock({ ops, config }: ForwardContext, weights: MLPWeights, hidden: Tensor): Tensor {
  return ops.scope(() => {
    const activated = ops.scope(() => {
      const x = ops.rmsNorm(hidden, weights.norm, config.epsilon);
      return ops.swiglu(ops.linear(x, weights.gate), ops.linear(x, weights.up));
    });
    return ops.add(hidden, ops.linear(activated, weights.down));
  });
}

/** Loads the MLP block of decoder layer `layer`. */
export async function loadMLP(weights: Weights, layer: number): Promise<MLPWeights> {
  const prefix = `model.layers.${layer}`;
  return {
    norm: await weights.load(`${prefix}.post_attention_layernorm.weight`),
    gate: await weights.load(`${prefix}.mlp.gate_proj.weight`),
    up: await weights.load(`${prefix}.mlp.up_proj.weight`),
    down: await weights.load(`${prefix}.mlp.down_proj.weight`),
  };
}
