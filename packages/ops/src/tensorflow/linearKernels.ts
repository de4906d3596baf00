import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import type { TensorflowContext } from "./tensorflowContext.ts";

type LinearKernels = Pick<Kernels<tf.Tensor>, "linear" | "linearBackward" | "splitLinear" | "splitLinearBackward">;

/** y = x·wᵀ + b, and dx = dy·w, dw = dyᵀ·x, db = Σ dy. */
export function linearKernels({ kernel, single, op, ints, concat, product }: TensorflowContext): LinearKernels {
  return {
    linear: (x, weight, bias) =>
      bias === null
        ? single([x, weight], (a, w) => product(a, w, "B"))
        : single([x, weight, bias], (a, w, b) => op("BiasAdd", [product(a, w, "B"), b])),

    linearBackward: (x, weight, dy, needs) => ({
      dx: needs.dx ? single([dy, weight], (d, w) => product(d, w)) : null,
      dw: needs.dw ? single([dy, x], (d, a) => product(d, a, "A")) : null,
      db: needs.db ? single([dy], (d) => op("BiasAddGrad", [d])) : null,
    }),

    // Joining the inputs moves less memory than adding up the parts' products.
    splitLinear: (xs, weight) => single([weight, ...xs], (w, ...parts) => product(concat(parts, 1), w, "B")),

    splitLinearBackward(xs, weight, dy, needs) {
      const widths = xs.map(({ shape }) => shape[1]!);
      const wanted = widths.flatMap((_, i) => (needs.dxs[i] ? [i] : []));
      const made = kernel([dy, weight, ...xs], (d, w, ...parts) => {
        const columns = (i: number) => {
          const start = widths.slice(0, i).reduce((sum, width) => sum + width, 0);
          return op("Slice", [w, ints(0, start), ints(-1, widths[i]!)]);
        };
        const results = wanted.map((i) => product(d, columns(i)));
        return needs.dw ? [...results, product(d, concat(parts, 1), "A")] : results;
      });
      return {
        dxs: widths.map((_, i) => made[wanted.indexOf(i)] ?? null),
        dw: needs.dw ? made.at(-1)! : null,
      };
    },
  };
}
