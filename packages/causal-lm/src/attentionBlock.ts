import type { Ops, RotaryTable, Tensor } from "@dflash/ops";
import type { CausalLMConfig } from "./causalLMConfig.ts";
import type { TokenPlaces } from "./tokenPlaces.ts";
import type { Weights } from "./weights.ts";

/** A linear map with its bias, where it has one. */
interface Projection {
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
}

/** Weights of one attention block. */
export interface AttentionWeights {
  readonly norm: Tensor;
  readonly query: Projection;
  readonly key: Projection;
  readonly value: Projection;
  readonly output: Tensor;
  /** RMSNorm of each head, for the families that have it. */
  readonly queryNorm: Tensor | undefined;
  readonly keyNorm: Tensor | undefined;
}

/** What every block of one forward computes with. */
export interface ForwardContext {
  readonly ops: Ops;
  readonly config: CausalLMConfig;
  readonly places: TokenPlaces;
  readonly rotary: RotaryTable;
}

/** h + attention(norm(h)): grouped-query attention with rotary positions; hidden [T, H]: [T, H]. */
export function attentionBlock(
  { ops, config, places, rotary }: ForwardContext,
  weights: AttentionWeights,
  hidden: Tensor,
): Tensor {
  const { heads, kvHeads, headDim, epsilon } = config;
  const tokens = places.positions.length;
  return ops.scope(() => {
    const x = ops.rmsNorm(hidden, weights.norm, epsilon);
    const project = ({ weight, bias }: Projection, count: number): Tensor =>
      ops.reshape(ops.linear(x, weight, bias), [tokens, count, headDim]);
    const place = (projected: Tensor, norm: Tensor | undefined): Tensor =>
      ops.rotary(norm ? ops.rmsNorm(projected, norm, epsilon) : projected, rotary, places.positions);
    const query = place(project(weights.query, heads), weights.queryNorm);
    const key = place(project(weights.key, kvHeads), weights.keyNorm);
    const attended = ops.attention(query, key, project(weights.value, kvHeads), places.ranges);
    return ops.add(hidden, ops.linear(ops.reshape(attended, [tokens, heads * headDim]), weights.output));
  });
}

/** Loads the attention block of decoder layer `layer`. */
export async function loadAttention(
  weights: Weights,
  { projectionBias, queryKeyNorm }: CausalLMConfig,
  layer: number,
): Promise<AttentionWeights> {
  const prefix = `model.layers.${layer}`;
  const load = (name: string): Promise<Tensor> => weights.load(`${prefix}.self_attn.${name}`);
  const projection = async (name: string): Promise<Projection> => ({
    weight: await load(`${name}.weight`),
    bias: projectionBias ? await load(`${name}.bias`) : undefined,
  });
  return {
    norm: await weights.load(`${prefix}.input_layernorm.weight`),
    query: await projection("q_proj"),
    key: await projection("k_proj"),
    value: await projection("v_proj"),
    output: await load("o_proj.weight"),
    queryNorm: queryKeyNorm ? await load("q_norm.weight") : undefined,
    keyNorm: queryKeyNorm ? await load("k_norm.weight") : undefined,
  };
}
