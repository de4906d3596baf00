import type { CausalLMConfig } from "@dflash/causal-lm";

/** What the target computes for a step. */
export interface TargetExtent {
  /** Of all rows. */
  readonly tokens: number;
  /** Taken as equally long: attention, the only part that depends on it, is a twentieth of the whole here. */
  readonly rows: number;
  /** Decoder layers that run: up to the last one whose hidden states are wanted. */
  readonly layers: number;
}

/** Floating-point operations of the target's forward: its products, and causal attention over the keys that are seen. */
export function targetFlops(config: CausalLMConfig, { tokens, rows, layers }: TargetExtent): number {
  const { hiddenSize, intermediateSize, headDim, heads, kvHeads } = config;
  const projections = hiddenSize * (2 * heads + 2 * kvHeads) * headDim;
  const mlp = 3 * hiddenSize * intermediateSize;
  const seenKeys = (tokens / rows + 1) / 2;
  return layers * tokens * (2 * (projections + mlp) + 4 * heads * headDim * seenKeys);
}
