import type { DeviceValues } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import type { TensorflowContext } from "./tensorflowContext.ts";

type LayerKernels = Pick<
  Kernels<tf.Tensor>,
  "rmsNorm" | "rmsNormBackward" | "rotary" | "swiglu" | "swigluBackward" | "add"
>;

const keepDims = { keep_dims: true };

export function layerKernels(context: TensorflowContext): LayerKernels {
  const { kernel, single, op, host, constant, reshape, concat, product } = context;
  const float = (value: number): DeviceValues => constant(value, "float32");

  /** [..., D] as [rows, D]. */
  const asRows = (x: DeviceValues): DeviceValues => (x.shape.length === 2 ? x : reshape(x, [-1, x.shape.at(-1)!]));

  return {
    rmsNorm(x, weight, epsilon) {
      const size = x.shape.at(-1)!;
      const [y, inverseRms] = kernel([x, weight], (values, w) => {
        const norm = op("EuclideanNorm", [values, constant(x.rank - 1, "int32")], keepDims);
        const meanSquare = op("Mul", [op("Square", [norm]), float(1 / size)]);
        const inverse = op("Rsqrt", [op("AddV2", [meanSquare, float(epsilon)])]);
        return [op("Mul", [op("Mul", [values, inverse]), w]), reshape(inverse, [-1])];
      });
      return { y: y!, inverseRms: inverseRms! };
    },

    // With r = 1/rms and p = dy·x: dw = Σ r·p over rows, dx = dy·w·r − x·Σ(p·w)·r³/D.
    rmsNormBackward(x, weight, inverseRms, dy, needs) {
      const size = x.shape.at(-1)!;
      const column = [...x.shape.slice(0, -1), 1].map((extent, i) => (i === 0 ? -1 : extent));
      const [first, second] = kernel([x, weight, inverseRms, dy], (values, w, inverse, d) => {
        const r = reshape(inverse, column);
        const p = asRows(op("Mul", [d, values]));
        const results: DeviceValues[] = [];
        if (needs.dx) {
          const along = reshape(product(p, reshape(w, [size, 1])), column);
          const cube = op("Mul", [op("Mul", [op("Square", [r]), r]), float(1 / size)]);
          const straight = op("Mul", [op("Mul", [d, w]), r]);
          results.push(op("Sub", [straight, op("Mul", [values, op("Mul", [along, cube])])]));
        }
        if (needs.dw) results.push(reshape(product(reshape(inverse, [1, -1]), p), [size]));
        return results;
      });
      if (needs.dx) return { dx: first!, dw: second ?? null };
      return { dx: null, dw: first ?? null };
    },

    // Each half is turned with the other: y = x·[c, c] + [x₂, x₁]·[−s, s].
    rotary: (x: tf.Tensor3D, cos, sin, positions, sign) =>
      single([x, cos, sin], (values, c, s) => {
        const [, , size] = x.shape;
        const places = host(positions.slice());
        const table = (from: DeviceValues): DeviceValues => op("GatherV2", [from, places, constant(0, "int32")]);
        const [cosines, sines] = [table(c), table(s)];
        const wide = (left: DeviceValues, right: DeviceValues): DeviceValues =>
          reshape(concat([left, right], 1), [-1, 1, size]);
        const swapped = op("Roll", [values, constant(size / 2, "int32"), constant(2, "int32")]);
        const across = op("Mul", [swapped, wide(op("Neg", [sines]), sines)]);
        return op(sign === 1 ? "AddV2" : "Sub", [op("Mul", [values, wide(cosines, cosines)]), across]);
      }),

    swiglu(gate, up) {
      const [y, sigmoid] = kernel([gate, up], (g, u) => {
        const s = op("Sigmoid", [g]);
        return [op("Mul", [op("Mul", [g, s]), u]), s];
      });
      return { y: y!, saved: [sigmoid!] };
    },

    // With s = sigmoid(g): dGate = dy·up·(s + g·s·(1 − s)), of which SigmoidGrad is the second part; dUp = dy·g·s.
    swigluBackward(gate, up, [sigmoid], dy) {
      const [dGate, dUp] = kernel([gate, up, sigmoid!, dy], (g, u, s, d) => {
        const slope = op("AddV2", [s, op("SigmoidGrad", [s, g])]);
        return [op("Mul", [op("Mul", [d, u]), slope]), op("Mul", [d, op("Mul", [g, s])])];
      });
      return { dGate: dGate!, dUp: dUp! };
    },

    add: (a, b) => single([a, b], (x, y) => op("AddV2", [x, y])),
  };
}
