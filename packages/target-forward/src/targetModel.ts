import type { Tensor } from "@dflash/ops";
import type { TokenBatch } from "./tokenBatch.ts";

/** What a forward captures. */
export interface TargetForwardOptions {
  /** 0-based decoder layers whose outputs are captured (Hugging Face `hidden_states[id + 1]`, before the final norm). */
  layerIds: readonly number[];
  /** Capture the last layer's output too, before the final norm. Off: the forward stops after the last captured layer. */
  captureLast?: boolean;
}

/** What a forward captured. The caller owns the tensors. */
export interface TargetHiddenStates {
  /** One [T, hiddenSize] tensor a captured layer, in the order of `layerIds`. */
  readonly features: Tensor[];
  /** [T, hiddenSize] before the final norm, or null when not asked for. */
  readonly last: Tensor | null;
}

/** A frozen target language model. Bring your own by implementing it. */
export interface TargetModel {
  /** Number of decoder layers, L. */
  readonly layers: number;
  readonly hiddenSize: number;
  /** Runs the layers that `options` needs over every row of the batch; each row is causal in itself. */
  forward(batch: TokenBatch, options: TargetForwardOptions): TargetHiddenStates | Promise<TargetHiddenStates>;
  /** Frees the weights. */
  dispose(): void;
}

/** The target's embedding, final norm and LM head, loadable alone; a drafter shares them, frozen. */
export interface TargetHead {
  readonly vocabSize: number;
  readonly hiddenSize: number;
  /** [V, hiddenSize] */
  readonly embedTokens: Tensor;
  /** [V, hiddenSize]; the same tensor as `embedTokens` when the target ties them. */
  readonly lmHead: Tensor;
  /** Weight of the final RMSNorm, [hiddenSize]. */
  readonly finalNorm: Tensor;
  /** Frees the weights. */
  dispose(): void;
}
