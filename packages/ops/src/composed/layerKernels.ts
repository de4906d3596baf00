import * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { int32 } from "./int32.ts";
import { tidy } from "./tidy.ts";

type LayerKernels = Pick<
  Kernels<tf.Tensor>,
  | "rmsNorm"
  | "rmsNormBackward"
  | "linear"
  | "linearBackward"
  | "splitLinear"
  | "splitLinearBackward"
  | "rotary"
  | "swiglu"
  | "swigluBackward"
  | "add"
>;

/** The columns of weight that belong to each of xs. */
const columnsOf = (xs: readonly tf.Tensor[], weight: tf.Tensor): tf.Tensor[] =>
  tf.split(
    weight,
    xs.map(({ shape }) => shape[1]!),
    1,
  );

const asRows = (x: tf.Tensor): tf.Tensor2D => tf.reshape(x, [-1, x.shape.at(-1)!]);

export const layerKernels: LayerKernels = {
  rmsNorm: (x, weight, epsilon) =>
    tidy(() => {
      const rows = asRows(x);
      const inverseRms = tf.rsqrt(tf.add(tf.mean(tf.square(rows), 1), epsilon));
      const normalised = tf.mul(rows, tf.expandDims(inverseRms, 1));
      return { y: tf.reshape(tf.mul(normalised, weight), x.shape), inverseRms };
    }),

  // With n = x·r, r = 1/rms: dx = r·(dy·w − n·mean(dy·w·n)), dw = Σ dy·n.
  rmsNormBackward: (x, weight, inverseRms, dy, needs) =>
    tidy(() => {
      const r = tf.expandDims(inverseRms, 1);
      const normalised = tf.mul(asRows(x), r);
      const dRows = asRows(dy);
      const dw = needs.dw ? tf.sum(tf.mul(dRows, normalised), 0) : null;
      if (!needs.dx) return { dx: null, dw };
      const dNormalised = tf.mul(dRows, weight);
      const along = tf.mean(tf.mul(dNormalised, normalised), 1, true);
      const dx = tf.mul(r, tf.sub(dNormalised, tf.mul(normalised, along)));
      return { dx: tf.reshape(dx, x.shape), dw };
    }),

  linear: (x, weight, bias) =>
    tidy(() => {
      const product = tf.matMul(x, weight, false, true);
      return bias === null ? product : tf.add(product, bias);
    }),

  linearBackward: (x, weight, dy, needs) => ({
    dx: needs.dx ? tf.matMul(dy, weight) : null,
    dw: needs.dw ? tf.matMul(dy, x, true, false) : null,
    db: needs.db ? tf.sum(dy, 0) : null,
  }),

  splitLinear: (xs, weight) =>
    tidy(() => {
      const columns = columnsOf(xs, weight);
      return xs.map((x, i) => tf.matMul(x, columns[i]!, false, true)).reduce((sum, part) => tf.add(sum, part));
    }),

  splitLinearBackward: (xs, weight, dy, needs) =>
    tidy(() => {
      const columns = columnsOf(xs, weight);
      const dxs = columns.map((part, i) => (needs.dxs[i] ? tf.matMul(dy, part) : null));
      const dw = needs.dw
        ? tf.concat(
            xs.map((x) => tf.matMul(dy, x, true, false)),
            1,
          )
        : null;
      return { dxs, dw };
    }),

  rotary: (x: tf.Tensor3D, cos, sin, positions, sign) =>
    tidy(() => {
      const half = x.shape[2] / 2;
      const rows = int32(positions);
      const c = tf.expandDims(tf.gather(cos, rows), 1);
      const s = tf.mul(tf.expandDims(tf.gather(sin, rows), 1), sign);
      const a = tf.slice(x, 0, [-1, -1, half]);
      const b = tf.slice(x, [0, 0, half]);
      return tf.concat([tf.sub(tf.mul(a, c), tf.mul(b, s)), tf.add(tf.mul(b, c), tf.mul(a, s))], 2);
    }),

  swiglu: (gate, up) =>
    tidy(() => {
      const sigmoid = tf.sigmoid(gate);
      return { y: tf.mul(tf.mul(gate, sigmoid), up), saved: [sigmoid] };
    }),

  // silu'(g) = s + g·s·(1 − s) with s = sigmoid(g).
  swigluBackward: (gate, up, [sigmoid], dy) =>
    tidy(() => {
      const silu = tf.mul(gate, sigmoid!);
      const slope = tf.add(sigmoid!, tf.mul(silu, tf.sub(1, sigmoid!)));
      return { dGate: tf.mul(tf.mul(dy, up), slope), dUp: tf.mul(dy, silu) };
    }),

  add: (a, b) => tf.add(a, b),
};
