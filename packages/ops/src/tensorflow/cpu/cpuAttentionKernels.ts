import type { DeviceValues, OpAttributes } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../../kernels.ts";
import type { AttentionBatch, AttentionPlan } from "../attentionBatches.ts";
import { attentionPlans } from "../attentionPlans.ts";
import type { TensorflowContext } from "../tensorflowContext.ts";

type AttentionKernels = Pick<Kernels<tf.Tensor>, "attention" | "attentionBackward">;

const queriesOf = ({ batches }: AttentionPlan): (Int32Array | null)[] => batches.map(({ queryOf }) => queryOf);
const keysOf = ({ batches }: AttentionPlan): (Int32Array | null)[] => batches.map(({ keyOf }) => keyOf);

/** Attention by the batches of {@link attentionPlans}: TensorFlow's products, and one op of ours for all between two of them. */
export function cpuAttentionKernels({
  kernel,
  part,
  op,
  host,
  ints,
  constant,
  product,
}: TensorflowContext): AttentionKernels {
  const planOf = attentionPlans("cpu");
  const counts = new Map<number, OpAttributes>();
  const countOf = (count: number): OpAttributes => {
    let attributes = counts.get(count);
    if (attributes === undefined) counts.set(count, (attributes = { count }));
    return attributes;
  };

  /** None where they are all in order. */
  const indices = (rows: Int32Array | null): DeviceValues => (rows === null ? ints() : host(rows));

  /** Rows of x [N, heads, D] as [runs, groups, a run's rows of the group's heads one head after another, D]. */
  const take = (x: DeviceValues, rows: Int32Array | null, runs: number, groups: number): DeviceValues =>
    op("DflashTakeHeads", [x, indices(rows), ints(runs, groups)]);

  /** The reverse: the sum of what the batches have for each row. */
  const give = (
    parts: readonly DeviceValues[],
    rows: readonly (Int32Array | null)[],
    shape: readonly number[],
  ): DeviceValues =>
    parts.length === 0
      ? op("Fill", [ints(...shape), constant(0, "float32")])
      : op("DflashGiveHeads", [...parts, ...rows.map(indices), ints(...shape)], countOf(parts.length));

  const sharesOf = (
    scores: DeviceValues,
    { mask, runs, rows, keys }: AttentionBatch,
    scale: DeviceValues,
  ): DeviceValues => {
    const added = mask === null ? constant([], "float32") : host(mask, [runs, rows, keys]);
    return op("DflashAttentionShares", [scores, added, scale]);
  };

  return {
    attention(query: tf.Tensor3D, key: tf.Tensor3D, value, ranges, scale) {
      const [heads, groups] = [query.shape[1], key.shape[1]];
      const plan = planOf(ranges, heads);
      const [y, ...saved] = kernel([query, key, value], (q, k, v) => {
        const factor = constant(scale, "float32");
        const parts = plan.batches.map((batch) =>
          part(() => {
            const { queryOf, keyOf, runs } = batch;
            const scores = product(take(q, queryOf, runs, groups), take(k, keyOf, runs, groups), "B");
            const shares = sharesOf(scores, batch, factor);
            return [product(shares, take(v, keyOf, runs, groups)), shares] as const;
          }),
        );
        const outputs = parts.map(([output]) => output);
        return [give(outputs, queriesOf(plan), query.shape), ...parts.map(([, shares]) => shares)];
      });
      return { y: y!, saved };
    },

    // With p the shares: dv = pᵀ·dy, ds = scale·p·(dp − Σ p·dp) of dp = dy·vᵀ, dq = ds·k, dk = dsᵀ·q.
    attentionBackward(query: tf.Tensor3D, key: tf.Tensor3D, value, _output, saved, gradient, ranges, scale) {
      const [heads, groups] = [query.shape[1], key.shape[1]];
      const plan = planOf(ranges, heads);
      const [dq, dk, dv] = kernel([query, key, value, gradient, ...saved], (q, k, v, dy, ...shares) => {
        const parts = plan.batches.map(({ queryOf, keyOf, runs }, i) =>
          part(() => {
            const dOutput = take(dy, queryOf, runs, groups);
            const dShares = product(dOutput, take(v, keyOf, runs, groups), "B");
            const factor = constant(scale, "float32");
            const dScores = op("DflashAttentionSharesGradient", [shares[i]!, dShares, factor]);
            return [
              product(dScores, take(k, keyOf, runs, groups)),
              product(dScores, take(q, queryOf, runs, groups), "A"),
              product(shares[i]!, dOutput, "A"),
            ] as const;
          }),
        );
        const [ofQueries, ofKeys, ofValues] = [0, 1, 2].map((which) => parts.map((made) => made[which]!));
        return [
          give(ofQueries!, queriesOf(plan), query.shape),
          give(ofKeys!, keysOf(plan), key.shape),
          give(ofValues!, keysOf(plan), key.shape),
        ];
      });
      return { dq: dq!, dk: dk!, dv: dv! };
    },
  };
}
