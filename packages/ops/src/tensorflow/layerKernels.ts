import type { DeviceValues } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import type { TensorflowContext } from "./tensorflowContext.ts";

type LayerKernels = Pick<Kernels<tf.Tensor>, "rmsNorm" | "rmsNormBackward" | "swiglu" | "swigluBackward" | "add">;

const keepDims = { keep_dims: true };

export function layerKernels(context: TensorflowContext): LayerKernels {
  const { kernel, single, op, constant, reshape, product } = context;
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
