import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { dotKernel } from "./dotKernel.ts";
import { largestValue } from "./largestValue.ts";
import { createProduct, rowMajor, transposed } from "./productKernel.ts";
import { eachRow, groupsForRows, reductions, type WebgpuContext } from "./webgpuContext.ts";

type CrossEntropyKernels = Pick<Kernels<tf.Tensor>, "linearCrossEntropy" | "argmax" | "sumOfSquares">;

const threads = 256;

export function crossEntropyKernels(context: WebgpuContext): CrossEntropyKernels {
  const { output, kernel, hosted, scratch } = context;
  const multiply = createProduct(context);
  const dot = dotKernel(context);

  // With logits z and label t: CE = log Σ eᶻ − z_t, and dz = weight·(softmax(z) − onehot(t)) takes the place of z.
  const lossOfRows = kernel({
    name: "cross-entropy of rows",
    arrays: {
      logits: "write f32",
      labels: "i32",
      weights: "f32",
      rowLosses: "write f32",
      predictions: "write i32",
    },
    numbers: { rows: "u32", width: "u32", start: "u32", gradients: "u32" },
    code:
      reductions(threads) +
      eachRow(
        threads,
        `let at = row * a.width;
        let weight = weights[a.start + row];
        let label = u32(max(0, labels[a.start + row]));
        ${largestValue(threads, "logits[at + c]", "a.width")}
        var sum = 0.0;
        for (var c = thread; c < a.width; c += ${threads}u) { sum += exp(logits[at + c] - most); }
        let exponentials = total(sum, thread);
        if (thread == 0u) {
          predictions[a.start + row] = i32(first);
          var loss = 0.0;
          if (weight != 0.0) { loss = log(exponentials) + most - logits[at + label]; }
          rowLosses[a.start + row] = loss;
        }
        storageBarrier();
        if (a.gradients == 1u) {
          for (var c = thread; c < a.width; c += ${threads}u) {
            let share = exp(logits[at + c] - most) / exponentials;
            logits[at + c] = weight * (share - select(0.0, 1.0, c == label));
          }
        }`,
      ),
  });

  const largestOfRows = kernel({
    name: "argmax",
    arrays: { x: "f32", y: "write i32" },
    numbers: { rows: "u32", width: "u32" },
    code:
      reductions(threads) +
      eachRow(
        threads,
        `${largestValue(threads, "x[row * a.width + c]", "a.width")}
        if (thread == 0u) { y[row] = i32(first); }`,
      ),
  });

  const ones = Float32Array.from({ length: threads }, () => 1);

  return {
    linearCrossEntropy(x: tf.Tensor2D, weight: tf.Tensor2D, labels, weights, chunkRows, needs) {
      const [rows, size] = x.shape;
      const [vocabulary] = weight.shape;
      const [loss, rowLosses, predictions] = [output([]), output([rows]), output([rows], "int32")];
      const dx = needs.dx ? output(x.shape) : null;
      const dw = needs.dw ? output(weight.shape) : null;
      const gradients = Number(needs.dx || needs.dw);
      const w = rowMajor(weight, size);
      hosted(labels, (targets) =>
        hosted(weights, (shares) => {
          scratch(Math.min(rows, chunkRows) * vocabulary, (logits) => {
            const slopes = rowMajor(logits, vocabulary);
            for (let start = 0; start < rows; start += chunkRows) {
              const m = Math.min(chunkRows, rows - start);
              const inputs = rowMajor(x, size, start * size);
              multiply({ m, n: vocabulary, k: size, a: inputs, b: transposed(w), c: slopes });
              const arrays = [logits, targets, shares, rowLosses, predictions];
              lossOfRows(arrays, [m, vocabulary, start, gradients], groupsForRows(m));
              if (dx) multiply({ m, n: size, k: vocabulary, a: slopes, b: w, c: rowMajor(dx, size, start * size) });
              if (dw) {
                const c = rowMajor(dw, size);
                multiply({ m: vocabulary, n: size, k: m, a: transposed(slopes), b: inputs, c, add: start > 0 });
              }
            }
          });
          dot([rowLosses, shares, loss], [1, rows], [1]);
        }),
      );
      return { loss, rowLosses, predictions, dx, dw };
    },

    argmax(x) {
      const width = x.shape.at(-1)!;
      const indices = output(x.shape.slice(0, -1), "int32");
      largestOfRows([x, indices], [indices.size, width], groupsForRows(indices.size));
      return indices;
    },

    sumOfSquares(x) {
      const sum = output([]);
      const groups = Math.min(threads, Math.ceil(x.size / (8 * threads)));
      if (groups <= 1) dot([x, x, sum], [1, x.size], [1]);
      else {
        scratch(groups, (partial) =>
          hosted(ones, (factors) => {
            dot([x, x, partial], [groups, x.size], [groups]);
            dot([partial, factors, sum], [1, groups], [1]);
          }),
        );
      }
      return sum;
    },
  };
}
