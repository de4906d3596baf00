import type { Tensor } from "@dflash/ops";
import type { TokenBatch } from "./tokenBatch.ts";

/** A batch with what the target computed for it; whoever takes it from the loop disposes it. */
export interface HiddenStates<Features> extends TokenBatch {
  /** The outputs of the captured layers, in one of the layouts. */
  readonly features: Features;
  /** The last layer's output before the final norm, [T, hiddenSize], or null when not asked for. */
  readonly last: Tensor | null;
  /** Frees the tensors. */
  dispose(): void;
}

/**
 * Features in one tensor without padding, [T, layers·hiddenSize]: the captured layers' outputs joined on the last axis in
 * the order of the layer ids. `rowStarts` are its rows (other implementations' `cu_seqlens`).
 */
export type PackedHiddenStates = HiddenStates<Tensor>;

/** Features as they were captured, one [T, hiddenSize] tensor a layer id: nothing is moved. For a drafter that projects layer by layer. */
export type SplitHiddenStates = HiddenStates<readonly Tensor[]>;

/** How features are handed over: joined in one tensor, or split by layer. */
export type FeatureLayout = "joined" | "split";
