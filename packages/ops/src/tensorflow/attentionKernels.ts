import type { DeviceValues } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import type { AttentionBatch, AttentionPlan } from "./attentionBatches.ts";
import { attentionPlans } from "./attentionPlans.ts";
import type { TensorflowContext } from "./tensorflowContext.ts";

type AttentionKernels = Pick<Kernels<tf.Tensor>, "attention" | "attentionBackward">;

const keepDims = { keep_dims: true };

/** Attention by batches of runs of queries that see about the same keys: dense products over those, never queries × all keys. */
export function attentionKernels(context: TensorflowContext, device: "cpu" | "gpu"): AttentionKernels {
  const { kernel, part, op, host, ints, constant, reshape, transpose, concat, product } = context;
  const [axis0, axis3] = [constant(0, "int32"), constant(3, "int32")];
  const planOf = attentionPlans(device);

  const withZeroRow = (x: DeviceValues): DeviceValues => op("Pad", [x, host(Int32Array.of(0, 1, 0, 0, 0, 0), [3, 2])]);

  /** Queries to be taken by a plan's `queryOf`, which may go one beyond them. */
  const filled = (x: DeviceValues, { batches }: AttentionPlan): DeviceValues =>
    batches.some(({ queryOf }) => queryOf?.includes(x.shape[0]!)) ? withZeroRow(x) : x;

  /** Rows of x [·, heads, D] as [runs, groups, a run's rows of the group's heads one head after another, D]. */
  const take = (x: DeviceValues, rows: Int32Array | null, runs: number, groups: number): DeviceValues => {
    const [, heads = 0, size = 0] = x.shape;
    const taken = rows === null ? x : op("GatherV2", [x, host(rows), axis0]);
    const count = taken.shape[0]! / runs;
    if (count === 1) return reshape(taken, [runs, groups, -1, size]);
    const byHead = transpose(reshape(taken, [runs, count, heads, size]), [0, 2, 1, 3]);
    return heads === groups ? byHead : reshape(byHead, [runs, groups, -1, size]);
  };

  /** The reverse, [all rows, heads, D]. */
  const giveBack = (x: DeviceValues, heads: number): DeviceValues => {
    const [runs = 0, groups = 0, count = 0, size = 0] = x.shape;
    if (groups * count === heads) return reshape(x, [runs, heads, size]);
    const byHead = heads === groups ? x : reshape(x, [runs, heads, -1, size]);
    return reshape(transpose(byHead, [0, 2, 1, 3]), [-1, heads, size]);
  };

  const takeQueries = (x: DeviceValues, { queryOf, runs }: AttentionBatch, groups: number): DeviceValues =>
    take(x, queryOf, runs, groups);

  const takeKeys = (x: DeviceValues, { keyOf, runs }: AttentionBatch): DeviceValues =>
    take(x, keyOf, runs, x.shape[1]!);

  const zeros = (shape: readonly number[]): DeviceValues => op("Fill", [ints(...shape), constant(0, "float32")]);

  /** The batches' rows by query, zeros for those that see nothing. */
  const joinQueries = (parts: readonly DeviceValues[], { rowOf }: AttentionPlan, like: DeviceValues): DeviceValues => {
    if (parts.length === 0) return zeros(like.shape);
    const all = concat(parts, 0);
    if (rowOf === null) return all;
    const beyond = rowOf.includes(all.shape[0]!);
    return op("GatherV2", [beyond ? withZeroRow(all) : all, host(rowOf), axis0]);
  };

  /** The sum of what the batches have for each key. */
  const joinKeys = (parts: readonly DeviceValues[], { batches }: AttentionPlan, like: DeviceValues): DeviceValues => {
    if (parts.length === 0) return zeros(like.shape);
    const inOrder = parts.filter((_, i) => batches[i]!.keyOf === null);
    const scattered = parts.flatMap((values, i) => {
      const { keyOf } = batches[i]!;
      return keyOf === null ? [] : [op("ScatterNd", [host(keyOf, [keyOf.length, 1]), values, ints(...like.shape)])];
    });
    return [...inOrder, ...scattered].reduce((a, b) => op("AddV2", [a, b]));
  };

  /** What share of each row each key has, of which one side is scaled. */
  const sharesOf = (batch: AttentionBatch, q: DeviceValues, k: DeviceValues, heads: number): DeviceValues => {
    const all = product(q, k, "B");
    const { mask, runs, rows, keys } = batch;
    if (mask === null) return op("Softmax", [all]);
    const masked = op("AddV2", [reshape(all, [runs, heads, rows, keys]), host(mask, [runs, 1, rows, keys])]);
    return reshape(op("Softmax", [masked]), all.shape);
  };

  return {
    attention(query: tf.Tensor3D, key: tf.Tensor3D, value, ranges, scale) {
      const [heads, groups] = [query.shape[1], key.shape[1]];
      const plan = planOf(ranges, heads);
      const [y, ...saved] = kernel([query, key, value], (q, k, v) => {
        // The smaller side: a cache's keys are many more than the queries of a round.
        const few = query.size < key.size;
        const scaled = op("Mul", [few ? q : k, constant(scale, "float32")]);
        const [queries, keys] = [filled(few ? scaled : q, plan), few ? k : scaled];
        const parts = plan.batches.map((batch) =>
          part(() => {
            const shares = sharesOf(batch, takeQueries(queries, batch, groups), takeKeys(keys, batch), heads);
            return [giveBack(product(shares, takeKeys(v, batch)), heads), shares] as const;
          }),
        );
        const outputs = parts.map(([output]) => output);
        return [joinQueries(outputs, plan, q), ...parts.map(([, shares]) => shares)];
      });
      return { y: y!, saved };
    },

    // With p the shares: dv = pᵀ·dy, ds = p·(dy·vᵀ − Σ dy·y), dq = ds·k·scale, dk = dsᵀ·q·scale.
    attentionBackward(query: tf.Tensor3D, key: tf.Tensor3D, value, output, saved, gradient, ranges, scale) {
      const [heads, groups] = [query.shape[1], key.shape[1]];
      const plan = planOf(ranges, heads);
      const [dq, dk, dv] = kernel([query, key, value, output, gradient, ...saved], (q, k, v, y, dy, ...shares) => {
        const factor = constant(scale, "float32");
        const scaled = op("Mul", [k, factor]);
        // Zeros in dy let no more rows of a run than it has count.
        const [queries, outputs, gradients] = [q, y, dy].map((x) => filled(x, plan));
        const parts = plan.batches.map((batch, i) =>
          part(() => {
            const share = shares[i]!;
            const dOutput = takeQueries(gradients!, batch, groups);
            const along = op("Sum", [op("Mul", [dOutput, takeQueries(outputs!, batch, groups)]), axis3], keepDims);
            const dShares = op("Sub", [product(dOutput, takeKeys(v, batch), "B"), along]);
            const dScores = op("Mul", [share, dShares]);
            return [
              giveBack(product(dScores, takeKeys(scaled, batch)), heads),
              giveBack(product(dScores, takeQueries(queries!, batch, groups), "A"), groups),
              giveBack(product(share, dOutput, "A"), groups),
            ] as const;
          }),
        );
        const [ofQueries, ofKeys, ofValues] = [0, 1, 2].map((which) => parts.map((made) => made[which]!));
        return [
          joinQueries(ofQueries!, plan, q),
          op("Mul", [joinKeys(ofKeys!, plan, k), factor]),
          joinKeys(ofValues!, plan, v),
        ];
      });
      return { dq: dq!, dk: dk!, dv: dv! };
    },
  };
}
