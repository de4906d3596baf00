import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import type { WasmContext } from "./wasmContext.ts";

type RmsNormKernels = Pick<Kernels<tf.Tensor>, "rmsNorm" | "rmsNormBackward">;

/** Values a task takes, about. */
const taskValues = 16_384;

export function rmsNormKernels({ at, output, each }: WasmContext): RmsNormKernels {
  return {
    rmsNorm(x, weight, epsilon) {
      const width = weight.size;
      const rows = x.size / width;
      const [y, inverseRms] = [output(x.shape), output([rows])];
      each("rmsNorm", rows, Math.ceil(taskValues / width), width, at(x), at(weight), epsilon, at(y), at(inverseRms));
      return { y, inverseRms };
    },

    rmsNormBackward(x, weight, inverseRms, dy, needs) {
      const width = weight.size;
      const rows = x.size / width;
      const dx = needs.dx ? output(x.shape) : null;
      const dw = needs.dw ? output([width]) : null;
      const saved = at(inverseRms);
      if (dx)
        each("rmsNormBackward", rows, Math.ceil(taskValues / width), width, at(x), at(weight), saved, at(dy), at(dx));
      if (dw) each("rmsNormWeightBackward", width, 16, rows, at(x), saved, at(dy), at(dw));
      return { dx, dw };
    },
  };
}
