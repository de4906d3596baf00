import type * as tf from "@tensorflow/tfjs-core";
import type { WasmContext } from "./wasmContext.ts";

/** Σ weights·rowLosses as a scalar, added up in float64. */
export function weightedLoss(
  { heap, at, output }: WasmContext,
  rowLosses: tf.Tensor,
  weights: Float32Array,
): tf.Tensor {
  const loss = output([]);
  let total = 0;
  heap.floats(at(rowLosses), rowLosses.size).forEach((rowLoss, row) => (total += rowLoss * weights[row]!));
  heap.floats(at(loss), 1)[0] = total;
  return loss;
}
