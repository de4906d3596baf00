import * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { tidy } from "./tidy.ts";

export const crossEntropyKernels: Pick<Kernels<tf.Tensor>, "linearCrossEntropy" | "argmax"> = {
  linearCrossEntropy: (x: tf.Tensor2D, weight: tf.Tensor2D, labels, weights, chunkRows, needs) =>
    tidy(() => {
      const [rows, size] = x.shape;
      const rowLosses: tf.Tensor[] = [];
      const predictions: tf.Tensor[] = [];
      const dxs: tf.Tensor[] = [];
      let loss: tf.Tensor = tf.scalar(0);
      let dw: tf.Tensor = tf.zeros(needs.dw ? weight.shape : [0]);
      for (let start = 0; start < rows; start += chunkRows) {
        const end = Math.min(start + chunkRows, rows);
        const chunk = tf.slice(x, [start, 0], [end - start, size]);
        const part = chunkCrossEntropy(chunk, weight, labels.slice(start, end), weights.slice(start, end), needs);
        rowLosses.push(part.rowLosses);
        predictions.push(part.predictions);
        loss = tf.add(loss, part.loss);
        if (part.dx !== null) dxs.push(part.dx);
        if (part.dw !== null) dw = tf.add(dw, part.dw);
      }
      return {
        loss,
        rowLosses: tf.concat(rowLosses, 0),
        predictions: tf.concat(predictions, 0),
        dx: needs.dx ? tf.concat(dxs, 0) : null,
        dw: needs.dw ? dw : null,
      };
    }),

  argmax: (x) => tf.argMax(x, -1),
};

/** The loss of some rows and its gradients: with logits z and label t, CE = log Σ eᶻ − z_t and dz = weight·(softmax(z) − onehot(t)). */
function chunkCrossEntropy(
  x: tf.Tensor2D,
  weight: tf.Tensor2D,
  labels: Int32Array,
  weights: Float32Array,
  needs: { dx: boolean; dw: boolean },
): { loss: tf.Tensor; rowLosses: tf.Tensor; predictions: tf.Tensor; dx: tf.Tensor | null; dw: tf.Tensor | null } {
  return tidy(() => {
    const logits = tf.matMul(x, weight, false, true);
    const counted = labels.map((label, row) => (weights[row] === 0 ? 0 : label));
    // oneHot wants two columns at least.
    const hot = tf.oneHot(tf.tensor1d(counted, "int32"), Math.max(2, weight.shape[0]));
    const target = tf.slice(tf.cast(hot, "float32"), [0, 0], logits.shape);
    const rowWeights = tf.tensor1d(weights);
    const losses = tf.sub(tf.logSumExp(logits, 1), tf.sum(tf.mul(logits, target), 1));
    const rowLosses = tf.mul(losses, tf.tensor1d(weights.map((rowWeight) => (rowWeight === 0 ? 0 : 1))));
    const gradients = needs.dx || needs.dw;
    const dLogits = gradients ? tf.mul(tf.sub(tf.softmax(logits), target), tf.expandDims(rowWeights, 1)) : null;
    return {
      loss: tf.sum(tf.mul(rowLosses, rowWeights)),
      rowLosses,
      predictions: tf.argMax(logits, 1),
      dx: dLogits !== null && needs.dx ? tf.matMul(dLogits, weight) : null,
      dw: dLogits !== null && needs.dw ? tf.matMul(dLogits, x, true, false) : null,
    };
  });
}
