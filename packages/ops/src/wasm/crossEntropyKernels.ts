import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { rowMajor, transposed } from "./wasmContext.ts";
import type { WasmContext } from "./wasmContext.ts";
import { weightedLoss } from "./weightedLoss.ts";

type CrossEntropyKernels = Pick<Kernels<tf.Tensor>, "linearCrossEntropy" | "argmax">;

/** Rows of logits a task takes. */
const taskRows = 8;

export function crossEntropyKernels(context: WasmContext): CrossEntropyKernels {
  const { at, output, zeros, each, multiply, scratch, copied } = context;
  return {
    linearCrossEntropy(x: tf.Tensor2D, weight: tf.Tensor2D, labels, weights, chunkRows, needs) {
      const [rows, size] = x.shape;
      const [vocabulary] = weight.shape;
      const [rowLosses, predictions] = [output([rows]), output([rows], "int32")];
      const dx = needs.dx ? output(x.shape) : null;
      const dw = needs.dw ? zeros(weight.shape) : null;
      const gradients = Number(needs.dx || needs.dw);
      const w = rowMajor(at(weight), size);

      /** From rows of x to their losses and gradients, by way of their logits. */
      const chunk = (start: number, m: number, logits: number, targets: number, shares: number): void => {
        const inputs = rowMajor(at(x) + 4 * start * size, size);
        const slopes = rowMajor(logits, vocabulary);
        multiply({ m, n: vocabulary, k: size, a: inputs, b: transposed(w), c: slopes });
        const places = [targets, shares, at(rowLosses), at(predictions)].map((address) => address + 4 * start);
        each("crossEntropy", m, taskRows, vocabulary, logits, ...places, gradients);
        if (dx) multiply({ m, n: size, k: vocabulary, a: slopes, b: w, c: rowMajor(at(dx) + 4 * start * size, size) });
        if (dw)
          multiply({
            m: vocabulary,
            n: size,
            k: m,
            a: transposed(slopes),
            b: inputs,
            c: rowMajor(at(dw), size),
            add: true,
          });
      };

      copied(labels, (targets) =>
        copied(weights, (shares) =>
          scratch(4 * Math.min(rows, chunkRows) * vocabulary, (logits) => {
            for (let start = 0; start < rows; start += chunkRows) {
              chunk(start, Math.min(chunkRows, rows - start), logits, targets, shares);
            }
          }),
        ),
      );
      return { loss: weightedLoss(context, rowLosses, weights), rowLosses, predictions, dx, dw };
    },

    argmax(x) {
      const width = x.shape.at(-1)!;
      const indices = output(x.shape.slice(0, -1), "int32");
      each("argmax", indices.size, taskRows, width, at(x), at(indices));
      return indices;
    },
  };
}
