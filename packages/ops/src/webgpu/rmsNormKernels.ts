import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { columnSums } from "./columnSums.ts";
import { eachRow, groupsForRows, reductions, type WebgpuContext } from "./webgpuContext.ts";

const threads = 64;

/** y = x·r·w with r = 1/rms; with n = x·r: dx = r·(dy·w − n·mean(dy·w·n)), dw = Σ dy·n. */
export function rmsNormKernels(context: WebgpuContext): Pick<Kernels<tf.Tensor>, "rmsNorm" | "rmsNormBackward"> {
  const { output, kernel, scratch } = context;
  const sumColumns = columnSums(context);

  const forward = kernel({
    name: "rmsNorm",
    arrays: { x: "f32", weight: "f32", y: "write f32", inverseRms: "write f32" },
    numbers: { rows: "u32", width: "u32", epsilon: "f32" },
    code:
      reductions(threads) +
      eachRow(
        threads,
        `let start = row * a.width;
        var sum = 0.0;
        for (var c = thread; c < a.width; c += ${threads}u) { sum += x[start + c] * x[start + c]; }
        let r = 1.0 / sqrt(total(sum, thread) / f32(a.width) + a.epsilon);
        for (var c = thread; c < a.width; c += ${threads}u) { y[start + c] = x[start + c] * r * weight[c]; }
        if (thread == 0u) { inverseRms[row] = r; }`,
      ),
  });

  const backward = kernel({
    name: "rmsNorm's gradient",
    arrays: { x: "f32", weight: "f32", inverseRms: "f32", dy: "f32", dx: "write f32", scaled: "write f32" },
    numbers: { rows: "u32", width: "u32" },
    code:
      reductions(threads) +
      eachRow(
        threads,
        `let start = row * a.width;
        let r = inverseRms[row];
        var sum = 0.0;
        for (var c = thread; c < a.width; c += ${threads}u) { sum += dy[start + c] * weight[c] * x[start + c] * r; }
        let along = total(sum, thread) / f32(a.width);
        for (var c = thread; c < a.width; c += ${threads}u) {
          let n = x[start + c] * r;
          dx[start + c] = r * (dy[start + c] * weight[c] - n * along);
          scaled[start + c] = dy[start + c] * n;
        }`,
      ),
  });

  return {
    rmsNorm(x, weight, epsilon) {
      const width = weight.size;
      const rows = x.size / width;
      const [y, inverseRms] = [output(x.shape), output([rows])];
      forward([x, weight, y, inverseRms], [rows, width, epsilon], groupsForRows(rows));
      return { y, inverseRms };
    },

    rmsNormBackward(x, weight, inverseRms, dy, needs) {
      const width = weight.size;
      const rows = x.size / width;
      const dx = output(x.shape);
      const dw = needs.dw ? output(weight.shape) : null;
      scratch(x.size, (scaled) => {
        backward([x, weight, inverseRms, dy, dx, scaled], [rows, width], groupsForRows(rows));
        if (dw) sumColumns(scaled, rows, width, dw);
      });
      if (needs.dx) return { dx, dw };
      dx.dispose();
      return { dx: null, dw };
    },
  };
}
