import type { Tensor } from "@dflash/ops";
import type { TokenBatch } from "./tokenBatch.ts";

/** A batch with what the target computed for it; whoever takes it from the queue disposes it. */
export interface PackedHiddenStates extends TokenBatch {
  /** The captured layers' features joined on the last axis in the order of the layer ids, [T, layers·hiddenSize]. */
  readonly features: Tensor;
  /** The last layer's output before the final norm, [T, hiddenSize], or null when not asked for. */
  readonly last: Tensor | null;
  /** Frees the tensors. */
  dispose(): void;
}
