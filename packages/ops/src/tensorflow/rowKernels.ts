import type { DeviceValues } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import type { TensorflowContext } from "./tensorflowContext.ts";

type RowKernels = Pick<
  Kernels<tf.Tensor>,
  "embedding" | "gather" | "scatterAdd" | "concat" | "split" | "slice" | "padRows" | "reshape"
>;

const positiveAxis = ({ rank }: tf.Tensor, axis: 0 | -1): number => (axis === 0 ? 0 : rank - 1);

const typeOf = ({ dtype }: tf.Tensor): "float32" | "int32" => (dtype === "int32" ? "int32" : "float32");

/** Kernels that move rows. */
export function rowKernels(context: TensorflowContext): RowKernels {
  const { kernel, single, op, host, ints, constant, reshape, rows, concat } = context;

  // Indices are copied: TensorFlow may read the array it is given later than this returns.
  const gather = (x: tf.Tensor, indices: Int32Array): tf.Tensor =>
    single([x], (values) => op("GatherV2", [values, host(indices.slice()), constant(0, "int32")]));

  return {
    embedding: gather,
    gather,
    scatterAdd: (dy, ids, count) =>
      single([dy], (values) =>
        op("ScatterNd", [host(ids.slice(), [ids.length, 1]), values, ints(count, ...dy.shape.slice(1))]),
      ),
    concat: (tensors, axis) =>
      single(tensors, (...values) => {
        const [first] = tensors;
        // The caller owns the result, so it must not be the one tensor there is.
        if (values.length === 1) return op("Identity", values);
        return concat(values, positiveAxis(first!, axis), typeOf(first!));
      }),
    split: (dy, extents, axis) =>
      kernel([dy], (values) => {
        const at = positiveAxis(dy, axis);
        let offset = 0;
        return extents.map((extent): DeviceValues => {
          const begin = dy.shape.map((_, i) => (i === at ? offset : 0));
          const size = dy.shape.map((length, i) => (i === at ? extent : length));
          offset += extent;
          return op("Slice", [values, ints(...begin), ints(...size)]);
        });
      }),
    slice: (x, start, end) => single([x], (values) => rows(values, start, end)),
    padRows: (dy, start, count) =>
      single([dy], (values) => {
        const paddings = dy.shape.flatMap((length, i) => (i === 0 ? [start, count - start - length] : [0, 0]));
        return op("Pad", [values, host(Int32Array.from(paddings), [dy.rank, 2])]);
      }),
    // The number of rows, which alone differs from step to step, follows from the rest; not where there is nothing.
    reshape: (x, shape) =>
      single([x], (values) =>
        reshape(values, x.size === 0 ? shape : shape.map((extent, i) => (i === 0 ? -1 : extent))),
      ),
  };
}
