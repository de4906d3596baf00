import type { RowRanges } from "@dflash/block-mask";
import { type AttentionCosts, type AttentionPlan, planAttention } from "./attentionBatches.ts";

/** Costs and limits in scores of all heads. */
const scores: Record<"cpu" | "gpu", AttentionCosts> = {
  cpu: { run: 32_768, batch: 131_072, most: 4_194_304 },
  gpu: { run: 8_388_608, batch: 33_554_432, most: 134_217_728 },
};

/** Plans by ranges and heads. Ranges are the same for all layers of a step, forward and backward. */
export function attentionPlans(device: "cpu" | "gpu"): (ranges: RowRanges, heads: number) => AttentionPlan {
  const known = new WeakMap<RowRanges, Map<number, AttentionPlan>>();
  return (ranges, heads) => {
    let byHeads = known.get(ranges);
    if (byHeads === undefined) known.set(ranges, (byHeads = new Map()));
    let plan = byHeads.get(heads);
    if (plan === undefined) {
      const { run, batch, most } = scores[device];
      plan = planAttention(ranges, { run: run / heads, batch: batch / heads, most: most / heads });
      byHeads.set(heads, plan);
    }
    return plan;
  };
}
