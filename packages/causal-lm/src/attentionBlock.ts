import type { KeysValues, Ops, RotaryTable, Tensor } from "@dflash/ops";
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

/**
 * h + attention(norm(h)): grouped-query attention with rotary positions; hidden [T, H]: [T, H].
 *
 * @param remember Gives for the tokens' own keys and values those that they attend to, such as a cache's; their own unless given.
 */
export function attentionBlock(
  context: ForwardContext,
  weights: AttentionWeights,
  hidden: Tensor,
  remember: (own: KeysValues) => KeysValues = (own) => own,
): Tensor {
  return context.ops.scope(() => {
    const { query, own } = projectHeads(context, weights, hidden);
    return attend(context, weights, hidden, query, remember(own));
  });
}

/** Queries [T, heads, headDim], keys and values of the tokens; to be called in a scope. */
function projectHeads(
  { ops, config, places, rotary }: ForwardContext,
  weights: AttentionWeights,
  hidden: Tensor,
): { readonly query: Tensor; readonly own: KeysValues } {
  const { heads, kvHeads, headDim, epsilon } = config;
  const x = ops.rmsNorm(hidden, weights.norm, epsilon);
  const project = ({ weight, bias }: Projection, count: number): Tensor =>
    ops.reshape(ops.linear(x, weight, bias), [places.positions.length, count, headDim]);
  // In scopes of their own: of a row of tens of thousands of tokens, what stands between would not fit beside a model's weights.
  const place = (projection: Projection, count: number, norm: Tensor | undefined): Tensor =>
    ops.scope(() => {
      const projected = project(projection, count);
      return ops.rotary(norm ? ops.rmsNorm(projected, norm, epsilon) : projected, rotary, places.positions);
    });
  const query = place(weights.query, heads, weights.queryNorm);
  const keys = place(weights.key, kvHeads, weights.keyNorm);
  const values = project(weights.value, kvHeads);
  x.dispose();
  return { query, own: { keys, values } };
}

/** The residual stream with what the queries took from keys and values; to be called in a scope. */
function attend(
  { ops, config, places }: ForwardContext,
  weights: AttentionWeights,
  hidden: Tensor,
  query: Tensor,
  { keys, values }: KeysValues,
): Tensor {
  const attended = ops.attention(query, keys, values, places.ranges);
  const joined = ops.reshape(attended, [places.positions.length, config.heads * config.headDim]);
  return ops.add(hidden, ops.linear(joined, weights.output));
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
