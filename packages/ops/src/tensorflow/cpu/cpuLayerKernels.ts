import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../../kernels.ts";
import type { TensorflowContext } from "../tensorflowContext.ts";

type LayerKernels = Pick<Kernels<tf.Tensor>, "rmsNorm" | "rmsNormBackward" | "swiglu" | "swigluBackward" | "rotary">;

/** An op a kernel. */
export function cpuLayerKernels({ kernel, single, several, op, host, constant }: TensorflowContext): LayerKernels {
  return {
    rmsNorm(x, weight, epsilon) {
      const [y, inverseRms] = kernel([x, weight], (values, w) =>
        several("DflashRmsNorm", [values, w, constant(epsilon, "float32")], 2),
      );
      return { y: y!, inverseRms: inverseRms! };
    },

    rmsNormBackward(x, weight, inverseRms, dy, needs) {
      const made = kernel([x, weight, inverseRms, dy], (...values) =>
        several("DflashRmsNormGradient", values, 2).filter((_, i) => (i === 0 ? needs.dx : needs.dw)),
      );
      return { dx: needs.dx ? made.shift()! : null, dw: needs.dw ? made.shift()! : null };
    },

    // The gradient takes less time to compute the sigmoid again than to read it.
    swiglu: (gate, up) => ({ y: single([gate, up], (...values) => op("DflashSwiglu", values)), saved: [] }),

    swigluBackward(gate, up, _, dy) {
      const [dGate, dUp] = kernel([gate, up, dy], (...values) => several("DflashSwigluGradient", values, 2));
      return { dGate: dGate!, dUp: dUp! };
    },

    rotary: (x, cos, sin, positions, sign) =>
      single([x, cos, sin], (...values) =>
        op("DflashRotary", [...values, host(positions.slice()), constant(sign, "float32")]),
      ),
  };
}
