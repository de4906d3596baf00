import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { eachElement, groupsFor, type WebgpuContext } from "./webgpuContext.ts";

type RowKernels = Pick<
  Kernels<tf.Tensor>,
  "embedding" | "gather" | "scatterAdd" | "concat" | "split" | "slice" | "padRows" | "writeRows"
>;

const typeOf = ({ dtype }: tf.Tensor): "float32" | "int32" => (dtype === "int32" ? "int32" : "float32");

const widthOf = ({ shape }: tf.Tensor): number => shape.slice(1).reduce((product, extent) => product * extent, 1);

/** Kernels that move rows. What is only copied may be whole numbers as well, and is copied as such. */
export function rowKernels({ output, kernel, hosted }: WebgpuContext): RowKernels {
  const take = kernel({
    name: "gather",
    arrays: { x: "i32", rows: "i32", y: "write i32" },
    numbers: { count: "u32", width: "u32" },
    code: eachElement("y[i] = x[u32(rows[i / a.width]) * a.width + i % a.width];"),
  });
  const sum = kernel({
    name: "scatterAdd",
    arrays: { dy: "f32", starts: "i32", sources: "i32", y: "write f32" },
    numbers: { count: "u32", width: "u32" },
    code: eachElement(`
      let row = i / a.width;
      var sum = 0.0;
      for (var k = starts[row]; k < starts[row + 1u]; k++) {
        sum += dy[u32(sources[k]) * a.width + i % a.width];
      }
      y[i] = sum;`),
  });
  const move = kernel({
    name: "copy columns",
    arrays: { x: "i32", y: "write i32" },
    numbers: { count: "u32", width: "u32", xAt: "u32", xWidth: "u32", yAt: "u32", yWidth: "u32" },
    code: eachElement(`
      let row = i / a.width;
      let column = i % a.width;
      y[a.yAt + row * a.yWidth + column] = x[a.xAt + row * a.xWidth + column];`),
  });
  const write = kernel({
    name: "writeRows",
    arrays: { values: "i32", rows: "i32", x: "write i32" },
    numbers: { count: "u32", width: "u32" },
    code: eachElement("x[u32(rows[i / a.width]) * a.width + i % a.width] = values[i];"),
  });
  const pad = kernel({
    name: "padRows",
    arrays: { x: "i32", y: "write i32" },
    numbers: { count: "u32", start: "u32", end: "u32" },
    code: eachElement(`
      var value = 0;
      if (i >= a.start && i < a.end) { value = x[i - a.start]; }
      y[i] = value;`),
  });

  const gather = (x: tf.Tensor, rows: Int32Array): tf.Tensor => {
    const y = output([rows.length, ...x.shape.slice(1)], typeOf(x));
    if (y.size > 0) hosted(rows, (places) => take([x, places, y], [y.size, widthOf(x)], groupsFor(y.size)));
    return y;
  };

  return {
    embedding: gather,
    gather,
    scatterAdd(dy, ids, rows) {
      const y = output([rows, ...dy.shape.slice(1)]);
      const { starts, sources } = byTarget(ids, rows);
      hosted(starts, (first) =>
        hosted(sources, (from) => sum([dy, first, from, y], [y.size, widthOf(dy)], groupsFor(y.size))),
      );
      return y;
    },
    concat(tensors, axis) {
      const [first] = tensors;
      const joined = axis === 0 ? 0 : first!.rank - 1;
      const extent = tensors.reduce((total, { shape }) => total + shape[joined]!, 0);
      const y = output(first!.shape.with(joined, extent), typeOf(first!));
      // Along the first axis everything is one row.
      const rows = joined === 0 ? 1 : y.size / extent;
      const yWidth = y.size / rows;
      let yAt = 0;
      for (const x of tensors) {
        const width = x.size / rows;
        move([x, y], [x.size, width, 0, width, yAt, yWidth], groupsFor(x.size));
        yAt += width;
      }
      return y;
    },
    split(dy, extents, axis) {
      const joined = axis === 0 ? 0 : dy.rank - 1;
      const rows = joined === 0 ? 1 : dy.size / dy.shape[joined]!;
      const xWidth = dy.size / rows;
      let xAt = 0;
      return extents.map((extent) => {
        const y = output(dy.shape.with(joined, extent), typeOf(dy));
        const width = y.size / rows;
        move([dy, y], [y.size, width, xAt, xWidth, 0, width], groupsFor(y.size));
        xAt += width;
        return y;
      });
    },
    slice(x, start, end) {
      const y = output(x.shape.with(0, end - start), typeOf(x));
      const xAt = start * widthOf(x);
      move([x, y], [y.size, y.size, xAt, y.size, 0, y.size], groupsFor(y.size));
      return y;
    },
    writeRows(x, rows, values) {
      hosted(rows, (places) => write([values, places, x], [values.size, widthOf(x)], groupsFor(values.size)));
    },
    padRows(dy, start, rows) {
      const y = output(dy.shape.with(0, rows), typeOf(dy));
      const first = start * widthOf(dy);
      pad([dy, y], [y.size, first, first + dy.size], groupsFor(y.size));
      return y;
    },
  };
}

/** Which of `ids` name each row, in their order: sums come out the same every time. */
function byTarget(ids: Int32Array, rows: number): { starts: Int32Array; sources: Int32Array } {
  const starts = new Int32Array(rows + 1);
  for (const id of ids) starts[id + 1]!++;
  for (let row = 0; row < rows; row++) starts[row + 1]! += starts[row]!;
  const next = starts.slice();
  const sources = new Int32Array(Math.max(1, ids.length));
  ids.forEach((id, i) => (sources[next[id]!++] = i));
  return { starts, sources };
}
