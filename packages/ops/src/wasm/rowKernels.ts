import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import type { WasmContext } from "./wasmContext.ts";

type RowKernels = Pick<
  Kernels<tf.Tensor>,
  "embedding" | "gather" | "scatterAdd" | "concat" | "split" | "slice" | "padRows" | "rotary" | "writeRows"
>;

/** Rows a task takes. */
const chunk = 64;

/** Values of one row of axis 0. */
const rowSize = ({ shape }: tf.Tensor): number => shape.slice(1).reduce((size, extent) => size * extent, 1);

/** A tensor as `rows` stretches of `stride` values, each of which holds one part of what is joined along `axis`. */
function layout(x: tf.Tensor, axis: 0 | -1): { rows: number; stride: number } {
  const rows = axis === 0 ? 1 : x.size / x.shape.at(-1)!;
  return { rows, stride: x.size / rows };
}

/** Kernels that move rows; values of either type are four bytes. */
export function rowKernels({ heap, at, output, zeros, each, copied }: WasmContext): RowKernels {
  const like = (x: tf.Tensor, shape: number[]): tf.Tensor => output(shape, x.dtype === "int32" ? "int32" : "float32");

  const gather = (x: tf.Tensor, rows: Int32Array): tf.Tensor => {
    const y = like(x, [rows.length, ...x.shape.slice(1)]);
    copied(rows, (indices) => each("gatherRows", rows.length, chunk, 4 * rowSize(x), at(x), indices, at(y)));
    return y;
  };

  const copy = (rows: number, size: number, from: number, fromStride: number, to: number, toStride: number): void =>
    each("copyRows", rows, chunk, 4 * size, from, 4 * fromStride, to, 4 * toStride);

  return {
    embedding: gather,
    gather,
    scatterAdd(dy, ids, rows) {
      const y = zeros([rows, ...dy.shape.slice(1)]);
      copied(ids, (indices) => each("scatterAddRows", rowSize(dy), chunk, ids.length, at(dy), indices, at(y)));
      return y;
    },
    concat(tensors, axis) {
      const [first] = tensors;
      const joined = axis === 0 ? 0 : first!.rank - 1;
      const total = tensors.reduce((sum, { shape }) => sum + shape[joined]!, 0);
      const y = like(first!, first!.shape.with(joined, total));
      const { stride: toStride } = layout(y, axis);
      let offset = 0;
      for (const x of tensors) {
        const { rows, stride } = layout(x, axis);
        copy(rows, stride, at(x), stride, at(y) + 4 * offset, toStride);
        offset += stride;
      }
      return y;
    },
    split(dy, extents, axis) {
      const joined = axis === 0 ? 0 : dy.rank - 1;
      const { rows, stride: fromStride } = layout(dy, axis);
      let offset = 0;
      return extents.map((extent) => {
        const y = like(dy, dy.shape.with(joined, extent));
        const { stride } = layout(y, axis);
        copy(rows, stride, at(dy) + 4 * offset, fromStride, at(y), stride);
        offset += stride;
        return y;
      });
    },
    slice(x, start, end) {
      const size = rowSize(x);
      const y = like(x, x.shape.with(0, end - start));
      copy(1, y.size, at(x) + 4 * start * size, 0, at(y), 0);
      return y;
    },
    padRows(dy, start, rows) {
      const y = zeros(dy.shape.with(0, rows));
      copy(1, dy.size, at(dy), 0, at(y) + 4 * start * rowSize(dy), 0);
      return y;
    },
    writeRows(x, rows, values) {
      const size = rowSize(x);
      let start = 0;
      for (let end = 1; end <= rows.length; end++) {
        if (end < rows.length && rows[end] === rows[end - 1]! + 1) continue;
        copy(1, (end - start) * size, at(values) + 4 * start * size, 0, at(x) + 4 * rows[start]! * size, 0);
        start = end;
      }
      heap.refresh(x);
    },
    rotary(x: tf.Tensor3D, cos, sin, positions, sign) {
      const [tokens, heads, size] = x.shape;
      const y = output(x.shape);
      copied(positions, (places) =>
        each("rotary", tokens, chunk, heads, size / 2, at(x), at(cos), at(sin), places, sign, at(y)),
      );
      return y;
    },
  };
}
