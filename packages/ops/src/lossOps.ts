import type { KernelHandle } from "./kernels.ts";
import type { OpContext } from "./opContext.ts";
import type { Ops } from "./ops.ts";
import { checkFloat32, checkShape, extent, reject } from "./validate.ts";
import { own, release } from "./value.ts";

const op = "linearCrossEntropy";

/** The language-model loss and its predictions. */
export function lossOps<H extends KernelHandle>(context: OpContext<H>): Pick<Ops, "linearCrossEntropy" | "argmax"> {
  const { kernels } = context;
  return {
    linearCrossEntropy(x, weight, labels, weights, { chunkRows = 256 } = {}) {
      const xv = context.value(op, "x", x);
      const wv = context.value(op, "weight", weight);
      checkShape(op, "x", xv.handle, ["R", "H"]);
      checkShape(op, "weight", wv.handle, ["V", extent(xv.handle, 1)]);
      const [rows, vocabulary] = [extent(xv.handle, 0), extent(wv.handle, 0)];
      checkLabels(labels, weights, rows, vocabulary);
      if (!Number.isInteger(chunkRows) || chunkRows < 1) reject(op, "chunkRows", chunkRows, "a whole number from 1");

      // The gradients come out of the pass that has the logits, so it must know now whether anybody wants them.
      const needs = { dx: context.tape?.tracks(xv) ?? false, dw: context.tape?.tracks(wv) ?? false };
      const forward = kernels.linearCrossEntropy(xv.handle, wv.handle, labels, weights, chunkRows, needs);
      const dx = forward.dx && own(forward.dx);
      const dw = forward.dw && own(forward.dw);
      const held = [dx, dw].filter((value) => value !== null);
      const loss = context.result(own(forward.loss), [xv, wv], () => ({
        holds: held,
        gradients: (dy) => [dx, dw].map((value) => value && own(kernels.scaleBy(value.handle, dy.handle))),
      }));
      for (const value of held) release(kernels, value);
      return {
        loss,
        rowLosses: context.tensor(own(forward.rowLosses)),
        predictions: context.tensor(own(forward.predictions)),
      };
    },

    argmax(x) {
      const xv = context.value("argmax", "x", x);
      if (x.shape.length === 0) reject("argmax", "x", "a scalar", "one axis or more");
      checkFloat32("argmax", "x", xv.handle);
      return context.tensor(own(kernels.argmax(xv.handle)));
    },
  };
}

function checkLabels(labels: Int32Array, weights: Float32Array, rows: number, vocabulary: number): void {
  if (labels.length !== rows) reject(op, "labels.length", labels.length, `x's ${rows} rows`);
  if (weights.length !== rows) reject(op, "weights.length", weights.length, `x's ${rows} rows`);
  for (let row = 0; row < rows; row++) {
    const label = labels[row]!;
    if (weights[row] !== 0 && (label < 0 || label >= vocabulary)) {
      reject(op, `labels[${row}]`, label, `0 ≤ label < ${vocabulary} where the weight is not 0`);
    }
  }
}
