import type { KernelHandle } from "./kernels.ts";
import type { OpContext } from "./opContext.ts";
import type { Ops } from "./ops.ts";
import { checkFloat32, checkIndices, checkShape, extent, formatShape, reject } from "./validate.ts";
import { own, release, retain } from "./value.ts";

/** The layers of a transformer but attention. */
export function layerOps<H extends KernelHandle>(
  context: OpContext<H>,
): Pick<Ops, "embedding" | "rmsNorm" | "linear" | "splitLinear" | "rotary" | "swiglu" | "add"> {
  const { kernels } = context;
  return {
    embedding(table, ids) {
      const t = context.value("embedding", "table", table);
      checkShape("embedding", "table", t.handle, ["V", "H"]);
      checkIndices("embedding", "ids", ids, ids.length, extent(t.handle, 0));
      return context.result(own(kernels.embedding(t.handle, ids)), [t], () => {
        const [rows, kept] = [extent(t.handle, 0), ids.slice()];
        return { holds: [], gradients: (dy) => [own(kernels.scatterAdd(dy.handle, kept, rows))] };
      });
    },

    rmsNorm(x, weight, epsilon) {
      const xv = context.value("rmsNorm", "x", x);
      const wv = context.value("rmsNorm", "weight", weight);
      if (x.shape.length === 0) reject("rmsNorm", "x", "a scalar", "[..., D]");
      checkFloat32("rmsNorm", "x", xv.handle);
      checkShape("rmsNorm", "weight", wv.handle, [extent(xv.handle, -1)]);
      const { y, inverseRms } = kernels.rmsNorm(xv.handle, wv.handle, epsilon);
      const r = own(inverseRms);
      const result = context.result(own(y), [xv, wv], ([dx = false, dw = false]) => ({
        holds: [xv, wv, r],
        gradients: (dy) => {
          const back = kernels.rmsNormBackward(xv.handle, wv.handle, r.handle, dy.handle, { dx, dw });
          return [back.dx && own(back.dx), back.dw && own(back.dw)];
        },
      }));
      release(kernels, r);
      return result;
    },

    linear(x, weight, bias) {
      const xv = context.value("linear", "x", x);
      const wv = context.value("linear", "weight", weight);
      const bv = bias === undefined ? null : context.value("linear", "bias", bias);
      checkShape("linear", "x", xv.handle, ["T", "in"]);
      checkShape("linear", "weight", wv.handle, ["out", extent(xv.handle, 1)]);
      if (bv !== null) checkShape("linear", "bias", bv.handle, [extent(wv.handle, 0)]);
      const y = kernels.linear(xv.handle, wv.handle, bv?.handle ?? null);
      return context.result(own(y), [xv, wv, bv], ([dx = false, dw = false, db = false]) => ({
        holds: [xv, wv],
        gradients: (dy) => {
          const back = kernels.linearBackward(xv.handle, wv.handle, dy.handle, { dx, dw, db });
          return [back.dx && own(back.dx), back.dw && own(back.dw), back.db && own(back.db)];
        },
      }));
    },

    splitLinear(xs, weight) {
      const values = xs.map((x, index) => context.value("splitLinear", `xs[${index}]`, x));
      const wv = context.value("splitLinear", "weight", weight);
      const [first] = values;
      if (first === undefined) reject("splitLinear", "xs", "empty", "one or more");
      for (const [index, { handle }] of values.entries())
        checkShape("splitLinear", `xs[${index}]`, handle, [index === 0 ? "T" : extent(first.handle, 0), "in"]);
      const inputs = values.reduce((sum, { handle }) => sum + extent(handle, 1), 0);
      checkShape("splitLinear", "weight", wv.handle, ["out", inputs]);
      const handles = values.map(({ handle }) => handle);
      const y = kernels.splitLinear(handles, wv.handle);
      return context.result(own(y), [...values, wv], (needs) => ({
        holds: [...values, wv],
        gradients: (dy) => {
          const wanted = { dxs: needs.slice(0, -1), dw: needs.at(-1) ?? false };
          const { dxs, dw } = kernels.splitLinearBackward(handles, wv.handle, dy.handle, wanted);
          return [...dxs, dw].map((gradient) => gradient && own(gradient));
        },
      }));
    },

    rotary(x, table, positions) {
      const xv = context.value("rotary", "x", x);
      const cos = context.value("rotary", "table.cos", table.cos);
      const sin = context.value("rotary", "table.sin", table.sin);
      checkShape("rotary", "x", xv.handle, ["T", "heads", "D"]);
      if (extent(xv.handle, 2) % 2 !== 0) reject("rotary", "x", formatShape(x.shape), "an even last axis");
      checkShape("rotary", "table.cos", cos.handle, ["positions", extent(xv.handle, 2) / 2]);
      checkShape("rotary", "table.sin", sin.handle, cos.handle.shape);
      checkIndices("rotary", "positions", positions, extent(xv.handle, 0), extent(cos.handle, 0));
      const y = kernels.rotary(xv.handle, cos.handle, sin.handle, positions, 1);
      return context.result(own(y), [xv], () => {
        const kept = positions.slice();
        return {
          holds: [cos, sin],
          gradients: (dy) => [own(kernels.rotary(dy.handle, cos.handle, sin.handle, kept, -1))],
        };
      });
    },

    swiglu(gate, up) {
      const gv = context.value("swiglu", "gate", gate);
      const uv = context.value("swiglu", "up", up);
      checkFloat32("swiglu", "gate", gv.handle);
      checkShape("swiglu", "up", uv.handle, gate.shape);
      const { y, saved } = kernels.swiglu(gv.handle, uv.handle);
      const kept = saved.map(own);
      const result = context.result(own(y), [gv, uv], () => ({
        holds: [gv, uv, ...kept],
        gradients: (dy) => {
          const { dGate, dUp } = kernels.swigluBackward(
            gv.handle,
            uv.handle,
            kept.map(({ handle }) => handle),
            dy.handle,
          );
          return [own(dGate), own(dUp)];
        },
      }));
      for (const value of kept) release(kernels, value);
      return result;
    },

    add(a, b) {
      const av = context.value("add", "a", a);
      const bv = context.value("add", "b", b);
      checkFloat32("add", "a", av.handle);
      checkShape("add", "b", bv.handle, a.shape);
      return context.result(own(kernels.add(av.handle, bv.handle)), [av, bv], () => ({
        holds: [],
        gradients: (dy) => [retain(dy), retain(dy)],
      }));
    },
  };
}
