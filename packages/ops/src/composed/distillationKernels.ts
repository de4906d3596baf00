import * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { tidy } from "./tidy.ts";

type Parts = Record<"losses" | "predictions" | "dx", tf.Tensor>;

export const distillationKernels: Pick<Kernels<tf.Tensor>, "linearDistillation"> = {
  linearDistillation: (x: tf.Tensor2D, teacher: tf.Tensor2D, weight: tf.Tensor2D, weights, chunkRows, needs) =>
    tidy(() => {
      const [rows, size] = x.shape;
      const parts: Parts[] = [];
      for (let start = 0; start < rows; start += chunkRows) {
        const length = Math.min(chunkRows, rows - start);
        const [own, taught] = [x, teacher].map((all) => tf.slice(all, [start, 0], [length, size]));
        parts.push(chunkDistillation(own!, taught!, weight, weights.slice(start, start + length), needs.dx));
      }
      const all = (name: keyof Parts): tf.Tensor =>
        tf.concat(
          parts.map((part) => part[name]),
          0,
        );
      const rowLosses = all("losses");
      return {
        loss: tf.sum(tf.mul(rowLosses, tf.tensor1d(weights))),
        rowLosses,
        predictions: all("predictions"),
        dx: needs.dx ? all("dx") : null,
      };
    }),
};

/** With p the teacher's distribution and q that of x: KL = Σ p·(log p − log q) and dz = weight·(q − p). */
function chunkDistillation(
  x: tf.Tensor2D,
  teacher: tf.Tensor2D,
  weight: tf.Tensor2D,
  weights: Float32Array,
  needsDx: boolean,
): Parts {
  return tidy(() => {
    const logits = tf.matMul(x, weight, false, true);
    const [own, taught] = [tf.logSoftmax(logits), tf.logSoftmax(tf.matMul(teacher, weight, false, true))];
    const p = tf.exp(taught);
    const counted = tf.tensor1d(weights.map((rowWeight) => Number(rowWeight !== 0)));
    const slopes = tf.mul(tf.sub(tf.exp(own), p), tf.expandDims(tf.tensor1d(weights), 1));
    return {
      losses: tf.mul(tf.sum(tf.mul(p, tf.sub(taught, own)), 1), counted),
      predictions: tf.argMax(logits, 1),
      dx: needsDx ? tf.matMul(slopes, weight) : tf.zeros([0]),
    };
  });
}
