import * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { int32 } from "./int32.ts";
import { tidy } from "./tidy.ts";

type UpdateKernels = Pick<
  Kernels<tf.Tensor>,
  "adamW" | "sumOfSquares" | "scale" | "scaleBy" | "scaleInPlace" | "scaleRowsInPlace" | "addInPlace" | "writeRows"
>;

/** Gives `target` the values of `source`, which is used up: what tfjs's own variables do on assignment. */
function assign(target: tf.Tensor, source: tf.Tensor): void {
  const engine = tf.engine();
  engine.disposeTensor(target);
  target.dataId = source.dataId;
  engine.incRef(target, tf.backend());
  source.dispose();
}

export const updateKernels: UpdateKernels = {
  adamW(parameter, gradient, mean, variance, { learningRate, beta1, beta2, epsilon, weightDecay, step }) {
    const [nextMean, nextVariance, next] = tidy((): [tf.Tensor, tf.Tensor, tf.Tensor] => {
      const m = tf.add(tf.mul(mean, beta1), tf.mul(gradient, 1 - beta1));
      const v = tf.add(tf.mul(variance, beta2), tf.mul(tf.square(gradient), 1 - beta2));
      const denominator = tf.add(tf.div(tf.sqrt(v), Math.sqrt(1 - beta2 ** step)), epsilon);
      const update = tf.mul(tf.div(m, denominator), learningRate / (1 - beta1 ** step));
      return [m, v, tf.sub(tf.mul(parameter, 1 - learningRate * weightDecay), update)];
    });
    assign(mean, nextMean);
    assign(variance, nextVariance);
    assign(parameter, next);
  },
  sumOfSquares: (x) => tidy(() => tf.sum(tf.square(x))),
  scale: (x, factor) => tf.mul(x, factor),
  scaleBy: (x, factor) => tf.mul(x, factor),
  scaleInPlace: (x, factor) => assign(x, tf.mul(x, factor)),
  scaleRowsInPlace(x, factors) {
    const column = [factors.length, ...x.shape.slice(1).fill(1)];
    const scaled = tidy(() => tf.mul(x, tf.tensor(factors, column)));
    assign(x, scaled);
  },
  addInPlace: (a, b) => assign(a, tf.add(a, b)),
  writeRows(x, rows, values) {
    const sources = Int32Array.from({ length: x.shape[0] ?? 0 }, (_, row) => row);
    rows.forEach((row, i) => (sources[row] = sources.length + i));
    assign(
      x,
      tidy(() => tf.gather(tf.concat([x, values]), int32(sources))),
    );
  },
};
