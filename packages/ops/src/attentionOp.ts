import type { RowRanges } from "@dflash/block-mask";
import type { KernelHandle } from "./kernels.ts";
import type { OpContext } from "./opContext.ts";
import type { Ops } from "./ops.ts";
import { checkShape, extent, reject } from "./validate.ts";
import { own, release } from "./value.ts";

/** Masked grouped-query attention. */
export function attentionOp<H extends KernelHandle>(context: OpContext<H>): Pick<Ops, "attention"> {
  const { kernels } = context;
  return {
    attention(q, k, v, ranges, { scale = (q.shape[2] ?? 1) ** -0.5 } = {}) {
      const qv = context.value("attention", "q", q);
      const kv = context.value("attention", "k", k);
      const vv = context.value("attention", "v", v);
      checkShape("attention", "q", qv.handle, ["Q", "heads", "D"]);
      checkShape("attention", "k", kv.handle, ["K", "kvHeads", extent(qv.handle, 2)]);
      checkShape("attention", "v", vv.handle, k.shape);
      const [heads, kvHeads] = [extent(qv.handle, 1), extent(kv.handle, 1)];
      if (heads % kvHeads !== 0) reject("attention", "heads", heads, `a multiple of kvHeads = ${kvHeads}`);
      checkRanges(ranges, extent(qv.handle, 0), extent(kv.handle, 0));

      const forward = kernels.attention(qv.handle, kv.handle, vv.handle, ranges, scale);
      const y = own(forward.y);
      const saved = forward.saved.map(own);
      const result = context.result(y, [qv, kv, vv], () => ({
        holds: [qv, kv, vv, y, ...saved],
        gradients: (dy) => {
          const handles = saved.map(({ handle }) => handle);
          const { dq, dk, dv } = kernels.attentionBackward(
            qv.handle,
            kv.handle,
            vv.handle,
            y.handle,
            handles,
            dy.handle,
            ranges,
            scale,
          );
          return [own(dq), own(dk), own(dv)];
        },
      }));
      for (const value of saved) release(kernels, value);
      return result;
    },
  };
}

function checkRanges({ queryLength, keyLength, bounds }: RowRanges, queries: number, keys: number): void {
  if (queryLength !== queries) reject("attention", "ranges.queryLength", queryLength, `q's ${queries} rows`);
  if (keyLength !== keys) reject("attention", "ranges.keyLength", keyLength, `k's ${keys} rows`);
  if (bounds.length !== 4 * queries) reject("attention", "ranges.bounds.length", bounds.length, `4 × ${queries}`);
  for (let i = 0; i < bounds.length; i += 4) {
    const [start0, end0, start1, end1] = [bounds[i]!, bounds[i + 1]!, bounds[i + 2]!, bounds[i + 3]!];
    if (start0 < 0 || end0 < start0 || start1 < end0 || end1 < start1 || end1 > keys) {
      const got = [start0, end0, start1, end1].join(", ");
      reject("attention", `ranges.bounds of query ${i / 4}`, got, `0 ≤ start0 ≤ end0 ≤ start1 ≤ end1 ≤ ${keys}`);
    }
  }
}
