import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { columnSums } from "./columnSums.ts";
import { createProduct, type Matrix, rowMajor, transposed } from "./productKernel.ts";
import { eachElement, groupsFor, type WebgpuContext } from "./webgpuContext.ts";

type LinearKernels = Pick<Kernels<tf.Tensor>, "linear" | "linearBackward" | "splitLinear" | "splitLinearBackward">;

/** y = x·wᵀ + b, and dx = dy·w, dw = dyᵀ·x, db = Σ dy. */
export function linearKernels(context: WebgpuContext): LinearKernels {
  const { output, kernel } = context;
  const multiply = createProduct(context);
  const sumColumns = columnSums(context);
  const addBias = kernel({
    name: "add bias",
    arrays: { y: "write f32", bias: "f32" },
    numbers: { count: "u32", width: "u32" },
    code: eachElement("y[i] += bias[i % a.width];"),
  });

  return {
    linear(x, weight, bias) {
      const [m, k, n] = [x.shape[0], x.shape[1]!, weight.shape[0]];
      const y = output([m, n]);
      multiply({ m, n, k, a: rowMajor(x, k), b: transposed(rowMajor(weight, k)), c: rowMajor(y, n) });
      if (bias !== null) addBias([y, bias], [m * n, n], groupsFor(m * n));
      return y;
    },

    linearBackward(x, weight, dy, needs) {
      const [rows, inputs, outputs] = [x.shape[0], x.shape[1]!, weight.shape[0]];
      const slopes = rowMajor(dy, outputs);
      const dx = needs.dx ? output(x.shape) : null;
      const dw = needs.dw ? output(weight.shape) : null;
      const db = needs.db ? output([outputs]) : null;
      const w = rowMajor(weight, inputs);
      if (dx) multiply({ m: rows, n: inputs, k: outputs, a: slopes, b: w, c: rowMajor(dx, inputs) });
      if (dw) {
        const c = rowMajor(dw, inputs);
        multiply({ m: outputs, n: inputs, k: rows, a: transposed(slopes), b: rowMajor(x, inputs), c });
      }
      if (db) sumColumns(dy, rows, outputs, db);
      return { dx, dw, db };
    },

    splitLinear(xs, weight) {
      const [m, n] = [xs[0]!.shape[0], weight.shape[0]];
      const y = output([m, n]);
      for (const [i, { x, k, columns }] of parts(xs, weight).entries()) {
        multiply({ m, n, k, a: rowMajor(x, k), b: transposed(columns), c: rowMajor(y, n), add: i > 0 });
      }
      return y;
    },

    splitLinearBackward(xs, weight, dy, needs) {
      const [rows, outputs] = [dy.shape[0], weight.shape[0]];
      const slopes = rowMajor(dy, outputs);
      const dxs = parts(xs, weight).map(({ x, k, columns }, i) => {
        if (!needs.dxs[i]) return null;
        const dx = output(x.shape);
        multiply({ m: rows, n: k, k: outputs, a: slopes, b: columns, c: rowMajor(dx, k) });
        return dx;
      });
      if (!needs.dw) return { dxs, dw: null };
      const dw = output(weight.shape);
      for (const { x, k, columns } of parts(xs, dw)) {
        multiply({ m: outputs, n: k, k: rows, a: transposed(slopes), b: rowMajor(x, k), c: columns });
      }
      return { dxs, dw };
    },
  };
}

/** Each of xs with its columns of a matrix as wide as all of them. */
function parts(xs: readonly tf.Tensor[], matrix: tf.Tensor): { x: tf.Tensor; k: number; columns: Matrix }[] {
  let before = 0;
  return xs.map((x) => {
    const k = x.shape[1]!;
    const columns = rowMajor(matrix, matrix.shape[1]!, before);
    before += k;
    return { x, k, columns };
  });
}
