import type { RowRanges } from "@dflash/block-mask";
import type { AdamWOptions } from "./ops.ts";

/** An engine's own array; `H` is its handle type (tfjs: tf.Tensor). Kernels return new handles that the caller owns. */
export interface KernelHandle {
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
  upload(data: Float32Array | Int32Array, shape: readonly number[], frozen: boolean): H;
  read(x: H): Promise<Float32Array | Int32Array>;
  dispose(x: H): void;

  embedding(table: H, ids: Int32Array): H;
  /** Scatter-add of dy [T, H] into zeros [rows, H] at `ids`; the gradient of embedding and gather. */
  scatterAdd(dy: H, ids: Int32Array, rows: number): H;
  rmsNorm(x: H, weight: H, epsilon: number): { y: H; inverseRms: H };
  rmsNormBackward(
    x: H,
    weight: H,
    inverseRms: H,
    dy: H,
    needs: { dx: boolean; dw: boolean },
  ): { dx: H | null; dw: H | null };
  linear(x: H, weight: H, bias: H | null): H;
  linearBackward(
    x: H,
    weight: H,
    dy: H,
    needs: { dx: boolean; dw: boolean; db: boolean },
  ): { dx: H | null; dw: H | null; db: H | null };
  /** Σ xs[i] · weight[:, i]ᵀ over the columns of weight that belong to each of xs. */
  splitLinear(xs: readonly H[], weight: H): H;
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
  swiglu(gate: H, up: H): { y: H; saved: H[] };
  swigluBackward(gate: H, up: H, saved: readonly H[], dy: H): { dGate: H; dUp: H };
  add(a: H, b: H): H;
  concat(tensors: readonly H[], axis: 0 | -1): H;
  /** Parts of dy of the given extents along `axis`; the gradient of concat. */
  split(dy: H, extents: readonly number[], axis: 0 | -1): H[];
  slice(x: H, start: number, end: number): H;
  /** dy placed at `start` in zeros of `rows` rows; the gradient of slice. */
  padRows(dy: H, start: number, rows: number): H;
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
  linearDistillation(
    x: H,
    teacher: H,
    weight: H,
    weights: Float32Array,
    chunkRows: number,
    needs: { dx: boolean },
  ): { loss: H; rowLosses: H; predictions: H; dx: H | null };
  argmax(x: H): H;
  /** x · factor as a new handle. */
  scale(x: H, factor: number): H;
  /** x · factor as a new handle, where the factor is a scalar on the engine. */
  scaleBy(x: H, factor: H): H;
  adamW(parameter: H, gradient: H, mean: H, variance: H, options: AdamWOptions): void;
  /** Σx², as a scalar handle. */
  sumOfSquares(x: H): H;
  scaleInPlace(x: H, factor: number): void;
  scaleRowsInPlace(x: H, factors: Float32Array): void;
  addInPlace(a: H, b: H): void;
}
