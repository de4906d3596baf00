import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { rowMajor, transposed } from "./wasmContext.ts";
import type { WasmContext } from "./wasmContext.ts";
import { weightedLoss } from "./weightedLoss.ts";

type DistillationKernels = Pick<Kernels<tf.Tensor>, "linearDistillation">;

/** Rows of logits a task takes. */
const taskRows = 8;

/** The logits of both, their divergence, and its gradient in the place of the student's logits: three products a chunk. */
export function distillationKernels(context: WasmContext): DistillationKernels {
  const { at, output, each, multiply, scratch, copied } = context;
  return {
    linearDistillation(x: tf.Tensor2D, teacher: tf.Tensor2D, weight: tf.Tensor2D, weights, chunkRows, needs) {
      const [rows, size] = x.shape;
      const [vocabulary] = weight.shape;
      const [rowLosses, predictions] = [output([rows]), output([rows], "int32")];
      const dx = needs.dx ? output(x.shape) : null;
      const w = rowMajor(at(weight), size);

      const chunk = (start: number, m: number, logits: number, taught: number, shares: number): void => {
        const rowsOf = (tensor: tf.Tensor) => rowMajor(at(tensor) + 4 * start * size, size);
        const slopes = rowMajor(logits, vocabulary);
        multiply({ m, n: vocabulary, k: size, a: rowsOf(x), b: transposed(w), c: slopes });
        multiply({ m, n: vocabulary, k: size, a: rowsOf(teacher), b: transposed(w), c: rowMajor(taught, vocabulary) });
        const places = [shares, at(rowLosses), at(predictions)].map((address) => address + 4 * start);
        each("distillation", m, taskRows, vocabulary, logits, taught, ...places);
        if (dx) multiply({ m, n: size, k: vocabulary, a: slopes, b: w, c: rowsOf(dx) });
      };

      const bytes = 4 * Math.min(rows, chunkRows) * vocabulary;
      copied(weights, (shares) =>
        scratch(bytes, (logits) =>
          scratch(bytes, (taught) => {
            for (let start = 0; start < rows; start += chunkRows)
              chunk(start, Math.min(chunkRows, rows - start), logits, taught, shares);
          }),
        ),
      );
      return { loss: weightedLoss(context, rowLosses, weights), rowLosses, predictions, dx };
    },
  };
}
