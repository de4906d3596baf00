import type { KernelHandle } from "./kernels.ts";
import type { OpContext } from "./opContext.ts";
import type { Ops } from "./ops.ts";
import { checkIndices, checkShape, extent, formatShape, reject, sizeOf } from "./validate.ts";
import { own, view } from "./value.ts";

/** Ops that move rows and compute nothing. */
export function rowOps<H extends KernelHandle>(
  context: OpContext<H>,
): Pick<Ops, "concat" | "slice" | "gather" | "reshape"> {
  const { kernels } = context;
  return {
    concat(tensors, axis) {
      const values = tensors.map((tensor, index) => context.value("concat", `tensors[${index}]`, tensor));
      const [first] = values;
      if (first === undefined) reject("concat", "tensors", "empty", "one or more");
      const joined = axis === 0 ? 0 : first.handle.shape.length - 1;
      if (joined < 0) reject("concat", "tensors[0]", "a scalar", "one axis or more");
      const expected = first.handle.shape.map((length, index) => (index === joined ? "any" : length));
      for (const [index, { handle }] of values.entries()) {
        checkShape("concat", `tensors[${index}]`, handle, expected, first.handle.dtype);
      }
      const y = kernels.concat(
        values.map(({ handle }) => handle),
        axis,
      );
      return context.result(own(y), values, () => {
        const extents = values.map(({ handle }) => extent(handle, joined));
        return { holds: [], gradients: (dy) => kernels.split(dy.handle, extents, axis).map(own) };
      });
    },

    slice(x, start, end) {
      const xv = context.value("slice", "x", x);
      const [rows] = x.shape;
      if (rows === undefined) reject("slice", "x", "a scalar", "one axis or more");
      if (!Number.isInteger(start) || start < 0 || start > rows) reject("slice", "start", start, `0 ≤ start ≤ ${rows}`);
      if (!Number.isInteger(end) || end < start || end > rows) reject("slice", "end", end, `${start} ≤ end ≤ ${rows}`);
      return context.result(own(kernels.slice(xv.handle, start, end)), [xv], () => ({
        holds: [],
        gradients: (dy) => [own(kernels.padRows(dy.handle, start, rows))],
      }));
    },

    gather(x, rows) {
      const xv = context.value("gather", "x", x);
      const [total] = x.shape;
      if (total === undefined) reject("gather", "x", "a scalar", "one axis or more");
      checkIndices("gather", "rows", rows, rows.length, total);
      return context.result(own(kernels.gather(xv.handle, rows)), [xv], () => {
        const kept = rows.slice();
        return { holds: [], gradients: (dy) => [own(kernels.scatterAdd(dy.handle, kept, total))] };
      });
    },

    reshape(x, shape) {
      const xv = context.value("reshape", "x", x);
      if (sizeOf(shape) !== sizeOf(x.shape))
        reject("reshape", "shape", formatShape(shape), `as many values as ${formatShape(x.shape)}`);
      return context.result(view(kernels.reshape(xv.handle, shape), xv), [xv], () => ({
        holds: [],
        gradients: (dy) => [view(kernels.reshape(dy.handle, x.shape), dy)],
      }));
    },
  };
}
