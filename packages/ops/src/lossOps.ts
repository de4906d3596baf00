import type { KernelHandle } from "./kernels.ts";
import type { OpContext } from "./opContext.ts";
import type { CrossEntropy, Ops } from "./ops.ts";
import { checkFloat32, checkShape, extent, reject } from "./validate.ts";
import { own, release } from "./value.ts";
import type { Value } from "./value.ts";

/** Rows of a chunk, where they have more logits than the engine takes at once. */
const fewRows = 256;

/** Losses of a language model's head, and its predictions. `logitsAtOnce` is how many of more than 256 rows make one chunk. */
export function lossOps<H extends KernelHandle>(
  context: OpContext<H>,
  logitsAtOnce: number,
): Pick<Ops, "linearCrossEntropy" | "linearDistillation" | "argmax"> {
  const { kernels } = context;

  /** The gradients come out of the pass that has the logits; the tape holds them until backward asks for them. */
  const outputs = (
    inputs: readonly Value<H>[],
    { loss, rowLosses, predictions }: Record<"loss" | "rowLosses" | "predictions", H>,
    gradients: readonly (H | null)[],
  ): CrossEntropy => {
    const held = gradients.map((gradient) => gradient && own(gradient));
    const holds = held.filter((value) => value !== null);
    const differentiable = context.result(own(loss), inputs, () => ({
      holds,
      gradients: (dy) => held.map((value) => value && own(kernels.scaleBy(value.handle, dy.handle))),
    }));
    for (const value of holds) release(kernels, value);
    return {
      loss: differentiable,
      rowLosses: context.tensor(own(rowLosses)),
      predictions: context.tensor(own(predictions)),
    };
  };
  const rowsAtOnce = (weight: Value<H>): number =>
    Math.max(fewRows, Math.floor(logitsAtOnce / extent(weight.handle, 0)));
  const isTracked = (value: Value<H>): boolean => context.tape?.tracks(value) ?? false;

  return {
    linearCrossEntropy(x, weight, labels, weights, options = {}) {
      const op = "linearCrossEntropy";
      const xv = context.value(op, "x", x);
      const wv = context.value(op, "weight", weight);
      checkShape(op, "x", xv.handle, ["R", "H"]);
      checkShape(op, "weight", wv.handle, ["V", extent(xv.handle, 1)]);
      const [rows, vocabulary] = [extent(xv.handle, 0), extent(wv.handle, 0)];
      checkLabels(op, labels, weights, rows, vocabulary);
      const { chunkRows = rowsAtOnce(wv), chunkVocabulary = Infinity } = options;
      checkChunk(op, "chunkRows", chunkRows);
      const needs = { dx: isTracked(xv), dw: isTracked(wv) };
      const whole = chunkVocabulary >= vocabulary;
      if (!whole) checkChunk(op, "chunkVocabulary", chunkVocabulary);
      const tile = { rows: chunkRows, vocabulary: chunkVocabulary };
      const forward = whole
        ? kernels.linearCrossEntropy(xv.handle, wv.handle, labels, weights, chunkRows, needs)
        : kernels.tiledCrossEntropy(xv.handle, wv.handle, labels, weights, tile, needs);
      return outputs([xv, wv], forward, [forward.dx, forward.dw]);
    },

    linearDistillation(x, teacher, weight, weights, options = {}) {
      const op = "linearDistillation";
      const xv = context.value(op, "x", x);
      const tv = context.value(op, "teacher", teacher);
      const wv = context.value(op, "weight", weight);
      checkShape(op, "x", xv.handle, ["R", "H"]);
      checkShape(op, "teacher", tv.handle, x.shape);
      checkShape(op, "weight", wv.handle, ["V", extent(xv.handle, 1)]);
      checkWeights(op, weights, extent(xv.handle, 0));
      const { chunkRows = rowsAtOnce(wv) } = options;
      checkChunk(op, "chunkRows", chunkRows);
      for (const [argument, value] of Object.entries({ teacher: tv, weight: wv }))
        if (isTracked(value)) reject(op, argument, "trained", "frozen: it gets no gradient");
      const needs = { dx: isTracked(xv) };
      const forward = kernels.linearDistillation(xv.handle, tv.handle, wv.handle, weights, chunkRows, needs);
      return outputs([xv], forward, [forward.dx]);
    },

    argmax(x) {
      const xv = context.value("argmax", "x", x);
      if (x.shape.length === 0) reject("argmax", "x", "a scalar", "one axis or more");
      checkFloat32("argmax", "x", xv.handle);
      return context.tensor(own(kernels.argmax(xv.handle)));
    },
  };
}

function checkChunk(op: string, argument: string, value: number): void {
  if (!Number.isInteger(value) || value < 1) reject(op, argument, value, "a whole number from 1");
}

function checkWeights(op: string, weights: Float32Array, rows: number): void {
  if (weights.length !== rows) reject(op, "weights.length", weights.length, `x's ${rows} rows`);
}

function checkLabels(op: string, labels: Int32Array, weights: Float32Array, rows: number, vocabulary: number): void {
  if (labels.length !== rows) reject(op, "labels.length", labels.length, `x's ${rows} rows`);
  checkWeights(op, weights, rows);
  for (let row = 0; row < rows; row++) {
    const label = labels[row]!;
    if (weights[row] !== 0 && (label < 0 || label >= vocabulary)) {
      reject(op, `labels[${row}]`, label, `0 ≤ label < ${vocabulary} where the weight is not 0`);
    }
  }
}
