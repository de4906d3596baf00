import type { RowRanges } from "@dflash/block-mask";
import type { Engine } from "@dflash/engine";
import type { DType, Tensor } from "./tensor.ts";

/** Rotary table: `cos` and `sin` of shape [positions, headDim / 2], float32. */
export interface RotaryTable {
  /** cos(position · frequency). */
  readonly cos: Tensor;
  /** sin(position · frequency). */
  readonly sin: Tensor;
}

/** State of AdamW for one parameter: first and second moments, of its shape. */
export interface AdamWState {
  /** Running mean of the gradient. */
  readonly mean: Tensor;
  /** Running mean of the squared gradient. */
  readonly variance: Tensor;
}

/** Settings of one AdamW update (Loshchilov and Hutter 2019), named as PyTorch's. */
export interface AdamWOptions {
  /** Factor of the whole update, the decay included. */
  learningRate: number;
  /** Decay rate of the first moment. */
  beta1: number;
  /** Decay rate of the second moment. */
  beta2: number;
  /** Added to the root of the second moment. */
  epsilon: number;
  /** Share of the parameter taken off at learning rate 1. */
  weightDecay: number;
  /** Update number, from 1, for the bias correction. */
  step: number;
}

/** Result of {@link Ops.linearCrossEntropy} and {@link Ops.linearDistillation} over R rows. */
export interface CrossEntropy {
  /** Σ weight·loss over the rows; scalar, differentiable. */
  readonly loss: Tensor;
  /** Loss of each row in nats, [R], 0 in rows of weight 0; not differentiable. */
  readonly rowLosses: Tensor;
  /** Index of the largest logit of each row, int32 [R]. */
  readonly predictions: Tensor;
}

/** What a recorded function returns: a scalar to differentiate, or a tensor whose own gradient is known later. */
export type Differentiable = { readonly loss: Tensor } | { readonly output: Tensor };

/** A forward pass whose gradients can be asked for once. */
export interface Recording<T> {
  /** What the recorded function returned; the caller disposes its tensors. */
  readonly outputs: T;
  /**
   * Gradients of `outputs.loss`, or of Σ gradient·`outputs.output`, one a parameter in their order; a parameter without
   * influence gets zeros. Frees the recording.
   *
   * @param gradient Of the shape of `outputs.output`; stays the caller's.
   */
  backward(gradient?: Tensor): Tensor[];
  /** Frees the recording when no gradients are wanted. */
  dispose(): void;
}

/**
 * The narrow waist: everything that models compute with. Weights are in the Hugging Face layout [out, in]; tokens of all
 * rows of a batch lie behind one another on axis 0 (packed, no padding). A new engine implements this and nothing else.
 */
export interface Ops {
  /** The engine that computes. */
  readonly engine: Engine;
  /** Which form computes each op here. */
  readonly forms: Readonly<Record<string, "fused" | "composed">>;

  /** Copies host values to the engine. `frozen` says that the values never change, so that an engine may keep a layout of its own. */
  readonly upload: (
    data: Float32Array | Int32Array,
    shape: readonly number[],
    options?: { frozen?: boolean },
  ) => Tensor;
  /** A tensor of zeros, float32 unless said otherwise. */
  readonly zeros: (shape: readonly number[], dtype?: DType) => Tensor;
  /** Runs `fn` and frees every tensor made in it except those it returns (in an array or as properties too). */
  readonly scope: <T>(fn: () => T) => T;
  /** Runs `fn` as outside all scopes: what it makes lives until it is disposed. For what a model keeps from one call to the next. */
  readonly unscoped: <T>(fn: () => T) => T;
  /** Runs `fn` while recording what depends on `parameters`. */
  readonly record: <T extends Differentiable>(parameters: readonly Tensor[], fn: () => T) => Recording<T>;
  /** `record` and `backward` at once. */
  readonly valueAndGrad: <T extends { readonly loss: Tensor }>(
    parameters: readonly Tensor[],
    fn: () => T,
  ) => { outputs: T; gradients: Tensor[] };

  /** Rows `ids` of `table`; table [V, H], ids [T]: [T, H]. */
  readonly embedding: (table: Tensor, ids: Int32Array) => Tensor;
  /** x / √(mean(x²) + ε) · weight over the last axis; weight [D], x [..., D]. */
  readonly rmsNorm: (x: Tensor, weight: Tensor, epsilon: number) => Tensor;
  /** x · weightᵀ (+ bias); x [T, in], weight [out, in], bias [out]: [T, out]. */
  readonly linear: (x: Tensor, weight: Tensor, bias?: Tensor) => Tensor;
  /** Half-rotation rotary embedding (the Qwen3 and Llama form); x [T, heads, D], positions [T]. */
  readonly rotary: (x: Tensor, table: RotaryTable, positions: Int32Array) => Tensor;
  /**
   * Masked grouped-query attention; q [Q, heads, D], k and v [K, kvHeads, D], scale D^-0.5 unless given: [Q, heads, D].
   * A query that sees no key gives 0.
   */
  readonly attention: (q: Tensor, k: Tensor, v: Tensor, ranges: RowRanges, options?: { scale?: number }) => Tensor;
  /** silu(gate) · up, of equal shapes. */
  readonly swiglu: (gate: Tensor, up: Tensor) => Tensor;
  /** a + b, of equal shapes. */
  readonly add: (a: Tensor, b: Tensor) => Tensor;
  /** Σ xs[i] · weight[:, i]ᵀ, weight being cut into columns as wide as each of xs: `linear` of the joined xs, which are never joined; xs [T, inᵢ], weight [out, Σ inᵢ]: [T, out]. */
  readonly splitLinear: (xs: readonly Tensor[], weight: Tensor) => Tensor;
  /** Joins along `axis`, 0 or −1. */
  readonly concat: (tensors: readonly Tensor[], axis: 0 | -1) => Tensor;
  /** Rows start ≤ i < end of axis 0. */
  readonly slice: (x: Tensor, start: number, end: number) => Tensor;
  /** Rows of axis 0 by index. */
  readonly gather: (x: Tensor, rows: Int32Array) => Tensor;
  /** The same values under another shape. */
  readonly reshape: (x: Tensor, shape: readonly number[]) => Tensor;
  /**
   * Cross-entropy of x · weightᵀ against labels, Σ weights·CE, in chunks of rows, so that rows × vocabulary never exists at once.
   * x [R, H], weight [V, H], labels and weights [R]. Rows of weight 0 contribute nothing, whatever their label.
   * A chunk is 256 rows unless given, on native TensorFlow as many as have 8 M logits if those are more. A `chunkVocabulary`
   * below V bounds memory further, for a second product of x and weight where gradients are wanted.
   */
  readonly linearCrossEntropy: (
    x: Tensor,
    weight: Tensor,
    labels: Int32Array,
    weights: Float32Array,
    options?: { chunkRows?: number; chunkVocabulary?: number },
  ) => CrossEntropy;
  /**
   * Σ weights·KL(softmax(teacher · weightᵀ) ‖ softmax(x · weightᵀ)) in chunks of rows, its gradient that of the
   * cross-entropy with soft targets. x and teacher [R, H], weight [V, H], weights [R]. Only x has a gradient.
   * Chunks are those of `linearCrossEntropy`, with the logits of both.
   */
  readonly linearDistillation: (
    x: Tensor,
    teacher: Tensor,
    weight: Tensor,
    weights: Float32Array,
    options?: { chunkRows?: number },
  ) => CrossEntropy;
  /** Index of the largest value on the last axis, int32. */
  readonly argmax: (x: Tensor) => Tensor;

  /** One AdamW update (decoupled decay, as PyTorch's) of `parameter` and `state`, in place. */
  readonly adamW: (parameter: Tensor, gradient: Tensor, state: AdamWState, options: AdamWOptions) => void;
  /** √Σ‖t‖² over all tensors, read back; NaN or Infinity when a value is. */
  readonly globalNorm: (tensors: readonly Tensor[]) => Promise<number>;
  /** Multiplies in place. */
  readonly scaleInPlace: (x: Tensor, factor: number) => void;
  /** Multiplies each row of axis 0 by its factor, in place; factors [R]. */
  readonly scaleRowsInPlace: (x: Tensor, factors: Float32Array) => void;
  /** a += b, in place (gradient accumulation). */
  readonly addInPlace: (a: Tensor, b: Tensor) => void;
  /** Row rows[i] of x becomes row i of values, in place; values [T, ...] of x's inner shape, rows [T], each named once. */
  readonly writeRows: (x: Tensor, rows: Int32Array, values: Tensor) => void;
}
