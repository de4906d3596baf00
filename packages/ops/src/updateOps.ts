import type { KernelHandle } from "./kernels.ts";
import type { OpContext } from "./opContext.ts";
import type { Ops } from "./ops.ts";
import type { Tensor } from "./tensor.ts";
import { checkFloat32, checkIndices, checkShape, extent, reject } from "./validate.ts";
import { isExclusive, own, release } from "./value.ts";
import type { Value } from "./value.ts";

/** What changes tensors in place and is never recorded: an optimizer step, and writing to a cache. */
export function updateOps<H extends KernelHandle>(
  context: OpContext<H>,
): Pick<Ops, "adamW" | "globalNorm" | "scaleInPlace" | "scaleRowsInPlace" | "addInPlace" | "writeRows"> {
  const { kernels } = context;

  const writable = (op: string, argument: string, tensor: Tensor): Value<H> => {
    const value = context.value(op, argument, tensor);
    if (!isExclusive(value)) {
      throw new Error(
        `${op}: ${argument} is still held by a recording or shared with a reshaped tensor; end that before changing it in place`,
      );
    }
    checkFloat32(op, argument, value.handle);
    return value;
  };

  return {
    adamW(parameter, gradient, state, options) {
      const p = writable("adamW", "parameter", parameter);
      const g = context.value("adamW", "gradient", gradient);
      const mean = writable("adamW", "state.mean", state.mean);
      const variance = writable("adamW", "state.variance", state.variance);
      for (const [argument, value] of Object.entries({ gradient: g, "state.mean": mean, "state.variance": variance })) {
        checkShape("adamW", argument, value.handle, parameter.shape);
      }
      if (!Number.isInteger(options.step) || options.step < 1)
        reject("adamW", "options.step", options.step, "a whole number from 1");
      kernels.adamW(p.handle, g.handle, mean.handle, variance.handle, options);
    },

    async globalNorm(tensors) {
      if (tensors.length === 0) return 0;
      const sums = tensors.map((tensor, index) => {
        const value = context.value("globalNorm", `tensors[${index}]`, tensor);
        checkFloat32("globalNorm", `tensors[${index}]`, value.handle);
        return own(kernels.sumOfSquares(value.handle));
      });
      // One read for all of them: each read waits for the engine.
      const rows = sums.map(({ handle }) => own(kernels.reshape(handle, [1])));
      const all = own(
        kernels.concat(
          rows.map(({ handle }) => handle),
          0,
        ),
      );
      for (const value of [...sums, ...rows]) release(kernels, value);
      try {
        let total = 0;
        for (const square of await kernels.read(all.handle)) total += square;
        return Math.sqrt(total);
      } finally {
        release(kernels, all);
      }
    },

    scaleInPlace(x, factor) {
      kernels.scaleInPlace(writable("scaleInPlace", "x", x).handle, factor);
    },

    scaleRowsInPlace(x, factors) {
      const xv = writable("scaleRowsInPlace", "x", x);
      const [rows] = x.shape;
      if (rows === undefined) reject("scaleRowsInPlace", "x", "a scalar", "one axis or more");
      if (factors.length !== rows) reject("scaleRowsInPlace", "factors.length", factors.length, `x's ${rows} rows`);
      kernels.scaleRowsInPlace(xv.handle, factors);
    },

    addInPlace(a, b) {
      const target = writable("addInPlace", "a", a);
      const addend = context.value("addInPlace", "b", b);
      checkShape("addInPlace", "b", addend.handle, a.shape);
      kernels.addInPlace(target.handle, addend.handle);
    },

    writeRows(x, rows, values) {
      const target = writable("writeRows", "x", x);
      const written = context.value("writeRows", "values", values);
      if (x.shape.length === 0) reject("writeRows", "x", "a scalar", "one axis or more");
      checkShape("writeRows", "values", written.handle, [rows.length, ...x.shape.slice(1)]);
      checkIndices("writeRows", "rows", rows, rows.length, extent(target.handle, 0));
      if (rows.length > 0) kernels.writeRows(target.handle, rows, written.handle);
    },
  };
}
