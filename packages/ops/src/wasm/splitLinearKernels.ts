import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { rowMajor, transposed } from "./wasmContext.ts";
import type { Matrix, WasmContext } from "./wasmContext.ts";

type SplitLinearKernels = Pick<Kernels<tf.Tensor>, "splitLinear" | "splitLinearBackward">;

/** The products of `linear` over columns of the weight where they lie, all added to one output. */
export function splitLinearKernels({ at, output, multiply }: WasmContext): SplitLinearKernels {
  /** Each of xs with its columns of a matrix as wide as all of them. */
  const parts = (xs: readonly tf.Tensor[], matrix: tf.Tensor): { x: tf.Tensor; k: number; columns: Matrix }[] => {
    let before = 0;
    return xs.map((x) => {
      const k = x.shape[1]!;
      const { at: start, ...strides } = rowMajor(at(matrix), matrix.shape[1]!);
      const columns = { at: start + 4 * before, ...strides };
      before += k;
      return { x, k, columns };
    });
  };

  return {
    splitLinear(xs, weight) {
      const [m, n] = [xs[0]!.shape[0], weight.shape[0]];
      const y = output([m, n]);
      for (const [i, { x, k, columns }] of parts(xs, weight).entries()) {
        multiply({ m, n, k, a: rowMajor(at(x), k), b: transposed(columns), c: rowMajor(at(y), n), add: i > 0 });
      }
      return y;
    },

    splitLinearBackward(xs, weight, dy, needs) {
      const [rows, outputs] = [dy.shape[0], weight.shape[0]];
      const slopes = rowMajor(at(dy), outputs);
      const dxs = parts(xs, weight).map(({ x, k, columns }, i) => {
        if (!needs.dxs[i]) return null;
        const dx = output(x.shape);
        multiply({ m: rows, n: k, k: outputs, a: slopes, b: columns, c: rowMajor(at(dx), k) });
        return dx;
      });
      if (!needs.dw) return { dxs, dw: null };
      const dw = output(weight.shape);
      for (const { x, k, columns } of parts(xs, dw)) {
        multiply({ m: outputs, n: k, k: rows, a: transposed(slopes), b: rowMajor(at(x), k), c: columns });
      }
      return { dxs, dw };
    },
  };
}
