import type { Ops, Tensor } from "@dflash/ops";
import type { Timer } from "@dflash/timer";
import type { FeatureLayout } from "./hiddenStates.ts";
import type { TokenBatch } from "./tokenBatch.ts";

/** What a forward captures. */
export interface TargetForwardOptions {
  /** 0-based decoder layers whose outputs are captured (Hugging Face `hidden_states[id + 1]`, before the final norm). */
  readonly layerIds: readonly number[];
  /** Capture the last layer's output too, before the final norm. Off: the forward stops after the last captured layer. */
  readonly captureLast?: boolean;
}

/** What is captured, and how it is handed over. */
export interface CaptureOptions extends TargetForwardOptions {
  /** Joined in one tensor, or one a layer. */
  readonly layout: FeatureLayout;
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
  /** H, the width of its hidden states. */
  readonly hiddenSize: number;
  /** Runs the layers that `options` needs over every row of the batch; each row is causal in itself. */
  forward(batch: TokenBatch, options: TargetForwardOptions): TargetHiddenStates | Promise<TargetHiddenStates>;
  /** Frees the weights. */
  dispose(): void;
}

/** What a model in another thread is loaded with. */
export interface TargetContext {
  /** Of the thread's own engine. */
  readonly ops: Ops;
  /** Puts every section into the thread's lane. */
  readonly timer: Pick<Timer, "section">;
}

/** Loads a model: the default export of a module that target workers import. `options` must be cloneable. */
export type LoadTarget<Options> = (options: Options, context: TargetContext) => TargetModel | Promise<TargetModel>;

/** The target's embedding, final norm and LM head, loadable alone; a drafter shares them, frozen. */
export interface TargetHead {
  /** V, rows of embedding and LM head. */
  readonly vocabSize: number;
  /** H, their columns. */
  readonly hiddenSize: number;
  /** [V, hiddenSize] */
  readonly embedTokens: Tensor;
  /** [V, hiddenSize]; the same tensor as `embedTokens` when the target ties them. */
  readonly lmHead: Tensor;
  /** Weight of the final RMSNorm, [hiddenSize]. */
  readonly finalNorm: Tensor;
  /** ε of the final RMSNorm. */
  readonly normEpsilon: number;
  /** Frees the weights. */
  dispose(): void;
}

/** Keys and values of one sequence's tokens in a target. */
export interface TargetCache {
  /** Tokens held: positions 0 to length − 1. */
  readonly length: number;
  /** Keeps the first `length` tokens. @throws {RangeError} When there aren't so many. */
  crop(length: number): void;
  /** Frees what it keeps. */
  dispose(): void;
}

/** A sequence and the tokens that follow what its cache holds. */
export interface CachedTokens {
  /** The new tokens. */
  readonly ids: Int32Array;
  /** What the row holds already. */
  readonly cache: TargetCache;
}

/** What extending captured, of the new tokens of all rows behind one another. The caller owns the tensors. */
export interface ExtendedHiddenStates {
  /** One [T, hiddenSize] tensor a captured layer, in the order of `layerIds`. */
  readonly features: Tensor[];
  /** Output of the last layer before the final norm, [T, hiddenSize], for `logits`. */
  readonly last: Tensor;
}

/** A target that generates: each new token is computed once and its keys and values are kept. */
export interface CachedTargetModel extends TargetModel {
  /** Its embedding, final norm and LM head. */
  readonly head: TargetHead;
  /** An empty cache, for one sequence of this model. */
  createCache(): TargetCache;
  /** Runs the new tokens of every row and adds them to the row's cache; `layerIds` may be empty. */
  extend(rows: readonly CachedTokens[], layerIds: readonly number[]): ExtendedHiddenStates;
  /** LM head of the final norm of the last layer's output; hidden [T, hiddenSize]: [T, V]. */
  logits(hidden: Tensor): Tensor;
}
