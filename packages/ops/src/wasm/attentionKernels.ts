import type { RowRanges } from "@dflash/block-mask";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { attentionRuns, keysOf } from "./attentionRuns.ts";
import type { AttentionRun } from "./attentionRuns.ts";
import type { WasmContext } from "./wasmContext.ts";

type AttentionKernels = Pick<Kernels<tf.Tensor>, "attention" | "attentionBackward">;

/**
 * Scores exist for one tile in each thread, over the keys that the tile's rows see. The forward pass saves a sum a row and
 * head; the backward pass makes the shares again from that.
 */
export function attentionKernels(context: WasmContext): AttentionKernels {
  const { heap, at, output, zeros, tasks, scratch, copied, productBytes } = context;

  /** Runs `fn` with the runs and bounds in memory, and with scratch for tiles and products in each thread. */
  const prepared = (
    ranges: RowRanges,
    size: number,
    tiles: number,
    fn: (memory: { count: number; runs: number; bounds: number; memory: number[] }) => void,
  ): void => {
    const runs = runsOf(ranges);
    let [tileBytes, mostProduct] = [0, 0];
    for (const run of runs) {
      const [rows, keys] = [run.rowEnd - run.row, keysOf(run)];
      tileBytes = Math.max(tileBytes, 4 * rows * keys);
      // Scores, shares times values, and shares transposed times rows.
      const products = [productBytes(rows, keys, size), productBytes(rows, size, keys), productBytes(keys, size, rows)];
      mostProduct = Math.max(mostProduct, ...products);
    }
    const threadBytes = tiles * tileBytes + mostProduct;
    copied(Int32Array.from(runs.flatMap(({ row, rowEnd, spans }) => [row, rowEnd, ...spans])), (places) =>
      copied(ranges.bounds, (bounds) =>
        scratch(heap.threads * threadBytes, (address) =>
          fn({ count: runs.length, runs: places, bounds, memory: [address, threadBytes, tileBytes] }),
        ),
      ),
    );
  };

  return {
    attention(q: tf.Tensor3D, k: tf.Tensor3D, v, ranges, scale) {
      const [rows, heads, size] = q.shape;
      const [, groups] = k.shape;
      const [y, logSums] = [zeros(q.shape), output([rows, heads])];
      prepared(ranges, size, 1, ({ count, runs, bounds, memory }) => {
        const inputs = [at(q), at(k), at(v), runs, bounds, scale];
        tasks("attention", count * heads, heads, groups, size, ...inputs, at(y), at(logSums), ...memory);
      });
      return { y, saved: [logSums] };
    },

    attentionBackward(q: tf.Tensor3D, k: tf.Tensor3D, v, y, [logSums], dy, ranges, scale) {
      const [, heads, size] = q.shape;
      const [, groups] = k.shape;
      const [dq, dk, dv] = [zeros(q.shape), zeros(k.shape), zeros(k.shape)];
      prepared(ranges, size, 2, ({ count, runs, bounds, memory }) => {
        const inputs = [at(q), at(k), at(v), runs, count, bounds, scale, at(y), at(logSums!), at(dy)];
        tasks("attentionBackward", groups, heads, groups, size, ...inputs, at(dq), at(dk), at(dv), ...memory);
      });
      return { dq, dk, dv };
    },
  };
}

/** Ranges are the same for all layers of a step, forward and backward. */
const known = new WeakMap<RowRanges, AttentionRun[]>();

function runsOf(ranges: RowRanges): AttentionRun[] {
  let runs = known.get(ranges);
  if (runs === undefined) known.set(ranges, (runs = attentionRuns(ranges)));
  return runs;
}
