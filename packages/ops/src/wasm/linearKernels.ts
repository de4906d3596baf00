import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { rowMajor, transposed } from "./wasmContext.ts";
import type { WasmContext } from "./wasmContext.ts";

type LinearKernels = Pick<Kernels<tf.Tensor>, "linear" | "linearBackward">;

/** y = x·wᵀ + b, and dx = dy·w, dw = dyᵀ·x, db = Σ dy: one product each, which reads its operands as they lie. */
export function linearKernels({ at, output, multiply, each, heap }: WasmContext): LinearKernels {
  return {
    linear(x: tf.Tensor2D, weight: tf.Tensor2D, bias) {
      const [m, k] = x.shape;
      const [n] = weight.shape;
      const y = output([m, n]);
      if (bias !== null) {
        const row = heap.floats(at(bias), n);
        const rows = heap.floats(at(y), m * n);
        for (let i = 0; i < m; i++) rows.set(row, i * n);
      }
      const [a, b] = [rowMajor(at(x), k), transposed(rowMajor(at(weight), k))];
      multiply({ m, n, k, a, b, c: rowMajor(at(y), n), add: bias !== null });
      return y;
    },

    linearBackward(x: tf.Tensor2D, weight: tf.Tensor2D, dy, needs) {
      const [rows, inputs] = x.shape;
      const [outputs] = weight.shape;
      const dx = needs.dx ? output(x.shape) : null;
      const dw = needs.dw ? output(weight.shape) : null;
      const db = needs.db ? output([outputs]) : null;
      const slopes = rowMajor(at(dy), outputs);
      if (dx)
        multiply({
          m: rows,
          n: inputs,
          k: outputs,
          a: slopes,
          b: rowMajor(at(weight), inputs),
          c: rowMajor(at(dx), inputs),
        });
      if (dw)
        multiply({
          m: outputs,
          n: inputs,
          k: rows,
          a: transposed(slopes),
          b: rowMajor(at(x), inputs),
          c: rowMajor(at(dw), inputs),
        });
      if (db) each("sumRows", outputs, 64, rows, at(dy), at(db));
      return { dx, dw, db };
    },
  };
}
