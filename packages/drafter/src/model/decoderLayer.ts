import type { RowRanges } from "@dflash/block-mask";
import type { KeysValues, Ops, RotaryTables, Tensor } from "@dflash/ops";
import type { Section } from "@dflash/timer";
import type { DrafterConfig, LayerType } from "../config/drafterConfig.ts";

export interface DecoderLayer {
  readonly type: LayerType;
  /** Keys and values of the context features, [T, H], at their positions. */
  context(features: Tensor, positions: Int32Array): KeysValues;
  /**
   * The layer's output for the slots.
   *
   * @param hidden [Q, H]
   * @param positions Of the slots, [Q].
   * @param join Makes of the slots' own keys and values all those that they attend to, the context's among them.
   * @param ranges The keys of those that each slot sees.
   */
  forward(hidden: Tensor, positions: Int32Array, join: (own: KeysValues) => KeysValues, ranges: RowRanges): Tensor;
}

export interface DecoderLayerOptions {
  readonly ops: Ops;
  readonly config: DrafterConfig;
  readonly type: LayerType;
  readonly rotary: RotaryTables;
  /** The layer's parameter by its name without prefix and `.weight`. */
  readonly weight: (name: string) => Tensor;
  readonly sections: Readonly<Record<"context" | "attention" | "mlp", Section>>;
}

/**
 * One drafter layer: a Qwen3 layer whose keys and values come from the context features and the slots alike, through the
 * same projections. The features are not normed here: `hidden_norm` did it once for all layers.
 */
export function createDecoderLayer(options: DecoderLayerOptions): DecoderLayer {
  const { ops, config, type, rotary, weight, sections } = options;
  const { heads, kvHeads, headDim, epsilon } = config;
  const split = (x: Tensor, count: number): Tensor => ops.reshape(x, [x.shape[0]!, count, headDim]);

  const rotate = (x: Tensor, positions: Int32Array): Tensor => {
    const covered = 1 + positions.reduce((last, position) => Math.max(last, position), 0);
    return ops.rotary(x, rotary.covering(covered), positions);
  };

  const keysValues = (x: Tensor, positions: Int32Array): KeysValues => {
    const keys = split(ops.linear(x, weight("self_attn.k_proj")), kvHeads);
    return {
      keys: rotate(ops.rmsNorm(keys, weight("self_attn.k_norm"), epsilon), positions),
      values: split(ops.linear(x, weight("self_attn.v_proj")), kvHeads),
    };
  };

  const attend: DecoderLayer["forward"] = (hidden, positions, join, ranges) => {
    const x = ops.rmsNorm(hidden, weight("input_layernorm"), epsilon);
    const queries = split(ops.linear(x, weight("self_attn.q_proj")), heads);
    const { keys, values } = join(keysValues(x, positions));
    const placed = rotate(ops.rmsNorm(queries, weight("self_attn.q_norm"), epsilon), positions);
    const attended = ops.attention(placed, keys, values, ranges);
    const joined = ops.reshape(attended, [hidden.shape[0]!, heads * headDim]);
    return ops.add(hidden, ops.linear(joined, weight("self_attn.o_proj")));
  };

  const mlp = (hidden: Tensor): Tensor => {
    const x = ops.rmsNorm(hidden, weight("post_attention_layernorm"), epsilon);
    const gated = ops.swiglu(ops.linear(x, weight("mlp.gate_proj")), ops.linear(x, weight("mlp.up_proj")));
    return ops.add(hidden, ops.linear(gated, weight("mlp.down_proj")));
  };

  return {
    type,
    context: (features, positions) => sections.context.time(() => keysValues(features, positions)),
    forward(hidden, positions, join, ranges) {
      const attended = sections.attention.time(() => attend(hidden, positions, join, ranges));
      return sections.mlp.time(() => mlp(attended));
    },
  };
}
