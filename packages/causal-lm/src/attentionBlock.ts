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
  config: CausalLMConfig,
  layer: number,
): Promise<AttentionWeights> {
  const { hiddenSize, heads, kvHeads, headDim } = config;
  const prefix = `model.layers.${layer}`;
  const projection = async (name: string, out: number): Promise<Projection> => ({
    weight: await weights.load(`${prefix}.self_attn.${name}.weight`, [out, hiddenSize]),
    bias: config.projectionBias ? await weights.load(`${prefix}.self_attn.${name}.bias`, [out]) : undefined,
  });
  const headNorm = async (name: string): Promise<Tensor | undefined> =>
    config.queryKeyNorm ? weights.load(`${prefix}.self_attn.${name}.weight`, [headDim]) : undefined;
  return {
    norm: await weights.load(`${prefix}.input_layernorm.weight`, [hiddenSize]),
    query: await projection("q_proj", heads * headDim),
    key: await projection("k_proj", kvHeads * headDim),
    value: await projection("v_proj", kvHeads * headDim),
    output: await weights.load(`${prefix}.self_attn.o_proj.weight`, [hiddenSize, heads * headDim]),
    queryNorm: await headNorm("q_norm"),
    keyNorm: await headNorm("k_norm"),
  };
}
