import type { RowRanges } from "@dflash/block-mask";
import type { AdamWOptions } from "./ops.ts";

/** An engine's own array; `H` is its handle type (tfjs: tf.Tensor). Kernels return new handles that the caller owns. */
export interface KernelHandle {
  /** Extent of each axis. */
  readonly shape: readonly number[];
  /** `float32` or `int32`. */
  readonly dtype: string;
}

/**
 * What an engine computes, forward and backward, without a tape. Ops record these; `composed` implements all of them with
 * plain tensor ops and is the oracle, an engine's fused set overrides those that pay.
 * Shapes are those of {@link Ops}; `needs` tells which gradients are wanted, others may be null.
 */
export interface Kernels<H extends KernelHandle> {
  /** Copies host values to the engine; `frozen` promises that they never change. */
  upload(data: Float32Array | Int32Array, shape: readonly number[], frozen: boolean): H;
  /** Copies the values to host memory once they are computed. */
  read(x: H): Promise<Float32Array | Int32Array>;
  /** Frees a handle. */
  dispose(x: H): void;

  /** Rows `ids` of `table` [V, H]. */
  embedding(table: H, ids: Int32Array): H;
  /** Scatter-add of dy [T, H] into zeros [rows, H] at `ids`; the gradient of embedding and gather. */
  scatterAdd(dy: H, ids: Int32Array, rows: number): H;
  /** The norm over the last axis and 1 / √(mean(x²) + ε) of each row, which backward wants. */
  rmsNorm(x: H, weight: H, epsilon: number): { y: H; inverseRms: H };
  /** Gradients of x and weight from that of y. */
  rmsNormBackward(
    x: H,
    weight: H,
    inverseRms: H,
    dy: H,
    needs: { dx: boolean; dw: boolean },
  ): { dx: H | null; dw: H | null };
  /** x · weightᵀ (+ bias). */
  linear(x: H, weight: H, bias: H | null): H;
  /** Gradients of x, weight and bias: dy · weight, dyᵀ · x and Σ dy. */
  linearBackward(
    x: H,
    weight: H,
    dy: H,
    needs: { dx: boolean; dw: boolean; db: boolean },
  ): { dx: H | null; dw: H | null; db: H | null };
  /** Σ xs[i] · weight[:, i]ᵀ over the columns of weight that belong to each of xs. */
  splitLinear(xs: readonly H[], weight: H): H;
  /** Gradients of each of xs and of weight. */
  splitLinearBackward(
    xs: readonly H[],
    weight: H,
    dy: H,
    needs: { dxs: readonly boolean[]; dw: boolean },
  ): { dxs: (H | null)[]; dw: H | null };
  /** `sign` 1 rotates, −1 rotates back (the gradient). */
  rotary(x: H, cos: H, sin: H, positions: Int32Array, sign: 1 | -1): H;
  /** `saved` is whatever attentionBackward wants; never Q × K over all keys at once in a fused form. */
  attention(q: H, k: H, v: H, ranges: RowRanges, scale: number): { y: H; saved: H[] };
  /** Gradients of queries, keys and values. */
  attentionBackward(
    q: H,
    k: H,
    v: H,
    y: H,
    saved: readonly H[],
    dy: H,
    ranges: RowRanges,
    scale: number,
  ): { dq: H; dk: H; dv: H };
  /** silu(gate) · up; `saved` is whatever swigluBackward wants. */
  swiglu(gate: H, up: H): { y: H; saved: H[] };
  /** Gradients of gate and up. */
  swigluBackward(gate: H, up: H, saved: readonly H[], dy: H): { dGate: H; dUp: H };
  /** a + b, of equal shapes. */
  add(a: H, b: H): H;
  /** Joins along `axis`. */
  concat(tensors: readonly H[], axis: 0 | -1): H;
  /** Parts of dy of the given extents along `axis`; the gradient of concat. */
  split(dy: H, extents: readonly number[], axis: 0 | -1): H[];
  /** Rows start ≤ i < end of axis 0. */
  slice(x: H, start: number, end: number): H;
  /** dy placed at `start` in zeros of `rows` rows; the gradient of slice. */
  padRows(dy: H, start: number, rows: number): H;
  /** Rows of axis 0 by index. */
  gather(x: H, rows: Int32Array): H;
  /** A new handle on the same values, of another shape. */
  reshape(x: H, shape: readonly number[]): H;
  /** Loss and, where needed, its gradients in one pass over chunks of rows. */
  linearCrossEntropy(
    x: H,
    weight: H,
    labels: Int32Array,
    weights: Float32Array,
    chunkRows: number,
    needs: { dx: boolean; dw: boolean },
  ): { loss: H; rowLosses: H; predictions: H; dx: H | null; dw: H | null };
  /** The same in tiles of rows × vocabulary; logits are computed a second time where gradients are needed. */
  tiledCrossEntropy(
    x: H,
    weight: H,
    labels: Int32Array,
    weights: Float32Array,
    tile: { rows: number; vocabulary: number },
    needs: { dx: boolean; dw: boolean },
  ): { loss: H; rowLosses: H; predictions: H; dx: H | null; dw: H | null };
  /** Σ weights·KL(softmax(teacher · weightᵀ) ‖ softmax(x · weightᵀ)) and, where needed, its gradient, in one pass over chunks of rows. */
  linearDistillation(
    x: H,
    teacher: H,
    weight: H,
    weights: Float32Array,
    chunkRows: number,
    needs: { dx: boolean },
  ): { loss: H; rowLosses: H; predictions: H; dx: H | null };
  /** Index of the largest value on the last axis, int32. */
  argmax(x: H): H;
  /** x · factor as a new handle. */
  scale(x: H, factor: number): H;
  /** x · factor as a new handle, where the factor is a scalar on the engine. */
  scaleBy(x: H, factor: H): H;
  /** One AdamW update of parameter, mean and variance, in place. */
  adamW(parameter: H, gradient: H, mean: H, variance: H, options: AdamWOptions): void;
  /** Σx², as a scalar handle. */
  sumOfSquares(x: H): H;
  /** x *= factor. */
  scaleInPlace(x: H, factor: number): void;
  /** Each row of axis 0 times its factor, in place. */
  scaleRowsInPlace(x: H, factors: Float32Array): void;
  /** a += b. */
  addInPlace(a: H, b: H): void;
  /** x[rows[i]] = values[i], each row named once. */
  writeRows(x: H, rows: Int32Array, values: H): void;
}
