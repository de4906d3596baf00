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
export function attentionKernels({
  heap,
  at,
  output,
  zeros,
  tasks,
  scratch,
  copied,
  productScratch,
}: WasmContext): AttentionKernels {
  /** Runs `fn` with the runs, the bounds and `tilesPerThread` tiles for each thread in memory. */
  const withTiles = (
    ranges: RowRanges,
    tilesPerThread: number,
    fn: (memory: { count: number; runs: number; bounds: number; tiles: number; tileBytes: number }) => void,
  ): void => {
    const runs = runsOf(ranges);
    const tileBytes = 4 * Math.max(0, ...runs.map((run) => (run.rowEnd - run.row) * keysOf(run)));
    copied(Int32Array.from(runs.flatMap(({ row, rowEnd, spans }) => [row, rowEnd, ...spans])), (places) =>
      copied(ranges.bounds, (bounds) =>
        scratch(heap.threads * tilesPerThread * tileBytes, (tiles) =>
          fn({ count: runs.length, runs: places, bounds, tiles, tileBytes }),
        ),
      ),
    );
  };

  return {
    attention(q: tf.Tensor3D, k: tf.Tensor3D, v, ranges, scale) {
      const [rows, heads, size] = q.shape;
      const [, groups] = k.shape;
      const [y, logSums] = [zeros(q.shape), output([rows, heads])];
      withTiles(ranges, 1, ({ count, runs, bounds, tiles, tileBytes }) =>
        tasks(
          "attention",
          count * heads,
          heads,
          groups,
          size,
          at(q),
          at(k),
          at(v),
          runs,
          bounds,
          scale,
          at(y),
          at(logSums),
          tiles,
          tileBytes,
          productScratch,
        ),
      );
      return { y, saved: [logSums] };
    },

    attentionBackward(q: tf.Tensor3D, k: tf.Tensor3D, v, y, [logSums], dy, ranges, scale) {
      const [, heads, size] = q.shape;
      const [, groups] = k.shape;
      const [dq, dk, dv] = [zeros(q.shape), zeros(k.shape), zeros(k.shape)];
      withTiles(ranges, 2, ({ count, runs, bounds, tiles, tileBytes }) =>
        tasks(
          "attentionBackward",
          groups,
          heads,
          groups,
          size,
          at(q),
          at(k),
          at(v),
          runs,
          count,
          bounds,
          scale,
          at(y),
          at(logSums!),
          at(dy),
          at(dq),
          at(dk),
          at(dv),
          tiles,
          tileBytes,
          productScratch,
        ),
      );
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
