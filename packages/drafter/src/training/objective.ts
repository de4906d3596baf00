import type { CrossEntropy, Ops, Recording } from "@dflash/ops";
import type { PackedHiddenStates, TargetHead } from "@dflash/target-forward";
import type { Timer } from "@dflash/timer";
import { blockRanges } from "../blocks/blockRanges.ts";
import type { BlockTargets } from "../blocks/blockTargets.ts";
import { noiseBlocks, rowPositions } from "../blocks/noiseBlocks.ts";
import type { Blocks } from "../blocks/sampleAnchors.ts";
import type { DFlashDrafter } from "../model/createDrafter.ts";

export interface ObjectiveOptions {
  readonly drafter: DFlashDrafter;
  readonly head: TargetHead;
  readonly ops: Ops;
  /** Receives the sections `drafter/mask`, `drafter/noise`, `drafter/forward` and `drafter/loss`. */
  readonly timer: Timer;
}

/**
 * Runs the drafter on the blocks of a batch and records Σ weight·CE / weightSum over their supervised slots, the
 * cross-entropy of the target's LM head on the drafter's hidden states against the text itself. Neither the head nor the
 * features get a gradient. The caller disposes the outputs.
 */
export type Objective = (
  batch: PackedHiddenStates,
  blocks: Blocks,
  targets: BlockTargets,
  weightSum: number,
) => Recording<CrossEntropy>;

export function createObjective({ drafter, head, ops, timer }: ObjectiveOptions): Objective {
  const { config } = drafter;
  const parameters = [...drafter.parameters.values()];
  const mask = timer.section("drafter/mask", { role: "block-mask" });
  const noise = timer.section("drafter/noise");
  const forward = timer.section("drafter/forward");
  const loss = timer.section("drafter/loss");

  return (batch, blocks, targets, weightSum) => {
    const { ids, rowStarts, features } = batch;
    const ranges = mask.time(() => blockRanges(blocks, config, ids.length));
    return ops.record(parameters, () => {
      const input = noise.time(() => {
        const { ids: noiseIds, positions } = noiseBlocks(blocks, ids, config.blockSize, config.maskTokenId);
        return {
          noise: ops.embedding(head.embedTokens, noiseIds),
          noisePositions: positions,
          contextPositions: rowPositions(rowStarts),
        };
      });
      const hidden = forward.time(() => drafter.forward({ ...input, features, ranges }));
      return loss.time(() => {
        const weights = targets.weights.map((weight) => weight / weightSum);
        return ops.linearCrossEntropy(ops.gather(hidden, targets.rows), head.lmHead, targets.labels, weights);
      });
    });
  };
}
