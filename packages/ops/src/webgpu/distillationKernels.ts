import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { dotKernel } from "./dotKernel.ts";
import { largestValue } from "./largestValue.ts";
import { createProduct, type Matrix, rowMajor, transposed } from "./productKernel.ts";
import { eachRow, groupsForRows, reductions, type WebgpuContext } from "./webgpuContext.ts";

type DistillationKernels = Pick<Kernels<tf.Tensor>, "linearDistillation">;

const threads = 256;

/** The logits of both, their divergence, and its gradient in the place of the student's logits: three products a chunk. */
export function distillationKernels(context: WebgpuContext): DistillationKernels {
  const { output, kernel, hosted, scratch } = context;
  const multiply = createProduct(context);
  const dot = dotKernel(context);

  // With logits z and the teacher's z′, each shifted by its largest, and sums s and s′ of their exponentials:
  // KL = Σ exp(z′)·(z′ − z) / s′ − log s′ + log s, and dz = weight·(exp(z) / s − exp(z′) / s′) takes the place of z.
  const divergenceOfRows = kernel({
    name: "divergence of rows",
    arrays: {
      logits: "write f32",
      taught: "f32",
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
        ${largestValue(threads, "logits[at + c]", "a.width")}
        var bestTaught = -3.4e38;
        for (var c = thread; c < a.width; c += ${threads}u) { bestTaught = max(bestTaught, taught[at + c]); }
        let mostTaught = largest(bestTaught, thread);
        var sum = 0.0;
        var sumTaught = 0.0;
        var gap = 0.0;
        for (var c = thread; c < a.width; c += ${threads}u) {
          let own = logits[at + c] - most;
          let other = taught[at + c] - mostTaught;
          let share = exp(other);
          sum += exp(own);
          sumTaught += share;
          gap += share * (other - own);
        }
        let exponentials = total(sum, thread);
        let exponentialsTaught = total(sumTaught, thread);
        let gaps = total(gap, thread);
        if (thread == 0u) {
          predictions[a.start + row] = i32(first);
          var loss = 0.0;
          if (weight != 0.0) { loss = gaps / exponentialsTaught - log(exponentialsTaught) + log(exponentials); }
          rowLosses[a.start + row] = loss;
        }
        if (a.gradients == 1u) {
          for (var c = thread; c < a.width; c += ${threads}u) {
            let share = exp(logits[at + c] - most) / exponentials;
            let shareTaught = exp(taught[at + c] - mostTaught) / exponentialsTaught;
            logits[at + c] = weight * (share - shareTaught);
          }
        }`,
      ),
  });

  return {
    linearDistillation(x: tf.Tensor2D, teacher: tf.Tensor2D, weight: tf.Tensor2D, weights, chunkRows, needs) {
      const [rows, size] = x.shape;
      const [vocabulary] = weight.shape;
      const [loss, rowLosses, predictions] = [output([]), output([rows]), output([rows], "int32")];
      const dx = needs.dx ? output(x.shape) : null;
      const w = rowMajor(weight, size);
      const values = Math.min(rows, chunkRows) * vocabulary;
      hosted(weights, (shares) => {
        scratch(values, (logits) =>
          scratch(values, (taught) => {
            for (let start = 0; start < rows; start += chunkRows) {
              const m = Math.min(chunkRows, rows - start);
              const rowsOf = (tensor: tf.Tensor): Matrix => rowMajor(tensor, size, start * size);
              const [slopes, targets] = [rowMajor(logits, vocabulary), rowMajor(taught, vocabulary)];
              multiply({ m, n: vocabulary, k: size, a: rowsOf(x), b: transposed(w), c: slopes });
              multiply({ m, n: vocabulary, k: size, a: rowsOf(teacher), b: transposed(w), c: targets });
              const arrays = [logits, taught, shares, rowLosses, predictions];
              divergenceOfRows(arrays, [m, vocabulary, start, Number(needs.dx)], groupsForRows(m));
              if (dx) multiply({ m, n: size, k: vocabulary, a: slopes, b: w, c: rowsOf(dx) });
            }
          }),
        );
        dot([rowLosses, shares, loss], [1, rows], [1]);
      });
      return { loss, rowLosses, predictions, dx };
    },
  };
}
