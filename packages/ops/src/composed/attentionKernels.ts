import { denseFromRowRanges } from "@dflash/block-mask";
import type { RowRanges } from "@dflash/block-mask";
import * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { tidy } from "./tidy.ts";

/** [rows, heads, D] as [groups, rows of the group's heads one head after another, D]: heads that share keys become one product. */
const byGroup = (x: tf.Tensor3D, groups: number): tf.Tensor3D => {
  const [rows, heads, size] = x.shape;
  return tf.reshape(tf.transpose(x, [1, 0, 2]), [groups, (heads / groups) * rows, size]);
};

const byRow = (x: tf.Tensor3D, rows: number, heads: number): tf.Tensor3D =>
  tf.transpose(tf.reshape(x, [heads, rows, x.shape[2]]), [1, 0, 2]);

const visibleKeys = (ranges: RowRanges): tf.Tensor =>
  tf.tensor2d(Float32Array.from(denseFromRowRanges(ranges)), [ranges.queryLength, ranges.keyLength]);

export const attentionKernels: Pick<Kernels<tf.Tensor>, "attention" | "attentionBackward"> = {
  attention: (q: tf.Tensor3D, k: tf.Tensor3D, v: tf.Tensor3D, ranges, scale) =>
    tidy(() => {
      const [rows, heads] = q.shape;
      const [keys, groups] = k.shape;
      const visible = visibleKeys(ranges);
      const products = tf.matMul(byGroup(q, groups), byGroup(k, groups), false, true);
      const scores = tf.reshape(tf.mul(products, scale), [heads, rows, keys]);
      // −1e9 and not −∞, which makes a row without keys NaN; multiplying by the mask then makes that row 0.
      const shares = tf.mul(tf.softmax(tf.add(scores, tf.mul(tf.sub(visible, 1), 1e9))), visible);
      const grouped = tf.reshape(shares, products.shape);
      return { y: byRow(tf.matMul(grouped, byGroup(v, groups)), rows, heads), saved: [grouped] };
    }),

  // With p the shares: dv = pᵀ·dy, ds = p·(dy·vᵀ − Σ dy·y), dq = ds·k·scale, dk = dsᵀ·q·scale.
  attentionBackward: (
    q: tf.Tensor3D,
    k: tf.Tensor3D,
    v: tf.Tensor3D,
    y: tf.Tensor3D,
    [shares]: readonly [tf.Tensor3D],
    dy: tf.Tensor3D,
    _ranges,
    scale,
  ) =>
    tidy(() => {
      const [rows, heads] = q.shape;
      const [keys, groups] = k.shape;
      const dOutput = byGroup(dy, groups);
      const along = tf.sum(tf.mul(dOutput, byGroup(y, groups)), 2, true);
      const dScores = tf.mul(shares, tf.sub(tf.matMul(dOutput, byGroup(v, groups), false, true), along));
      const dScaled = tf.mul<tf.Tensor3D>(dScores, scale);
      return {
        dq: byRow(tf.matMul(dScaled, byGroup(k, groups)), rows, heads),
        dk: byRow(tf.matMul(dScaled, byGroup(q, groups), true, false), keys, groups),
        dv: byRow(tf.matMul(shares, dOutput, true, false), keys, groups),
      };
    }),
};
