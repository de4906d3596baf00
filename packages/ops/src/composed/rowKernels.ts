import * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { int32 } from "./int32.ts";
import { tidy } from "./tidy.ts";

type RowKernels = Pick<
  Kernels<tf.Tensor>,
  "embedding" | "scatterAdd" | "gather" | "concat" | "split" | "slice" | "padRows"
>;

const gather = (x: tf.Tensor, rows: Int32Array): tf.Tensor => tidy(() => tf.gather(x, int32(rows)));

const positiveAxis = ({ rank }: tf.Tensor, axis: 0 | -1): number => (axis === 0 ? 0 : rank - 1);

export const rowKernels: RowKernels = {
  embedding: gather,
  gather,
  // scatterND adds up duplicates on every engine; gather's own gradient kernel is missing on WASM.
  scatterAdd: (dy, ids, rows) =>
    tidy(() => tf.scatterND(tf.expandDims(int32(ids), 1), dy, [rows, ...dy.shape.slice(1)])),
  concat: (tensors, axis) => tf.concat([...tensors], positiveAxis(tensors[0]!, axis)),
  split: (dy, extents, axis) => tf.split(dy, [...extents], positiveAxis(dy, axis)),
  slice: (x, start, end) => tf.slice(x, start, end - start),
  padRows: (dy, start, rows) =>
    tf.pad(
      dy,
      dy.shape.map((length, axis): [number, number] => (axis === 0 ? [start, rows - start - length] : [0, 0])),
    ),
};
