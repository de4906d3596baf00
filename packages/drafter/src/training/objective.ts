import type { CrossEntropy, Ops, Tensor } from "@dflash/ops";
import type { TargetHead } from "@dflash/target-forward";
import type { Timer } from "@dflash/timer";
import { blockRanges } from "../blocks/blockRanges.ts";
import type { BlockTargets } from "../blocks/blockTargets.ts";
import type { Blocks } from "../blocks/createAnchorSampler.ts";
import { noiseBlocks, rowPositions } from "../blocks/noiseBlocks.ts";
import { type Loss, lossWeighting } from "../loss/loss.ts";
import type { DFlashDrafter } from "../model/createDrafter.ts";
import { drafterFlops } from "./drafterFlops.ts";
import type { TrainBatch } from "./trainBatch.ts";

/** How many logits exist at once. */
export interface HeadChunk {
  /** Supervised slots; 256 unless given. */
  readonly chunkRows?: number;
  /** Words; all of them unless given. Fewer cost a second product with the head. */
  readonly chunkVocabulary?: number;
}

export interface ObjectiveOptions {
  readonly drafter: DFlashDrafter;
  readonly head: TargetHead;
  readonly ops: Ops;
  /** Receives the sections `drafter/mask`, `noise`, `forward`, `loss`, `backward` and `metrics`. */
  readonly timer: Timer;
  readonly loss: Loss;
  readonly headChunk?: HeadChunk;
}

/** A batch's loss and its gradients, both still to be divided by `divisor`, so that batches can be added up. */
export interface Evaluation {
  /** Σ weight·loss over the supervised slots, nats. */
  readonly loss: number;
  readonly divisor: number;
  /** One a parameter, in their order; the caller disposes them. */
  readonly gradients: Tensor[];
  /** Loss of each supervised slot, nats, [R]. */
  readonly rowLosses: Float32Array | Int32Array;
  /** The drafter's token for each supervised slot, [R]. */
  readonly predictions: Float32Array | Int32Array;
  /** Floating-point operations. */
  readonly flops: number;
}

/** Runs the drafter on the blocks of a batch, forward and backward. Neither the head nor the features get a gradient. */
export type Objective = (batch: TrainBatch, blocks: Blocks, targets: BlockTargets) => Promise<Evaluation>;

/** @throws {RangeError} When the loss's options are out of range. */
export function createObjective(options: ObjectiveOptions): Objective {
  const { drafter, head, ops, timer, loss, headChunk = {} } = options;
  const { config } = drafter;
  const parameters = [...drafter.parameters.values()];
  const weighting = lossWeighting(loss, config.blockSize);
  const sections = {
    mask: timer.section("drafter/mask", { role: "block-mask" }),
    noise: timer.section("drafter/noise"),
    forward: timer.section("drafter/forward"),
    loss: timer.section("drafter/loss"),
    backward: timer.section("drafter/backward"),
    metrics: timer.section("drafter/metrics"),
  };

  /** The target's final hidden states at the places that predict the slots' tokens: one before each. */
  const teacher = ({ last }: TrainBatch, { tokens }: BlockTargets): Tensor => {
    if (last === null)
      throw new Error(
        "soft-target loss: the batch has no last hidden states, expected them; capture the last layer too",
      );
    const before = tokens.map((token) => token - 1);
    return ops.rmsNorm(ops.gather(last, before), head.finalNorm, head.normEpsilon);
  };

  const headLoss = (
    supervised: Tensor,
    batch: TrainBatch,
    targets: BlockTargets,
    weights: Float32Array,
  ): CrossEntropy =>
    loss.type === "soft-target"
      ? ops.linearDistillation(supervised, teacher(batch, targets), head.lmHead, weights, headChunk)
      : ops.linearCrossEntropy(supervised, head.lmHead, targets.labels, weights, headChunk);

  return async (batch, blocks, targets) => {
    const { ids, rowStarts, features } = batch;
    const ranges = sections.mask.time(() => blockRanges(blocks, config, ids.length));
    const flops = drafterFlops(config, {
      tokens: ids.length,
      supervised: targets.rows.length,
      teacher: loss.type === "soft-target",
      ranges,
    });

    const recording = ops.record(parameters, () => {
      const input = sections.noise.time(() => {
        const { ids: noiseIds, positions } = noiseBlocks(blocks, ids, config.blockSize, config.maskTokenId);
        return {
          noise: ops.embedding(head.embedTokens, noiseIds),
          noisePositions: positions,
          contextPositions: rowPositions(rowStarts),
        };
      });
      return {
        output: sections.forward.time(() => ops.gather(drafter.forward({ ...input, features, ranges }), targets.rows)),
      };
    });
    const made: Tensor[] = [recording.outputs.output];
    try {
      let weights = weighting.adaptive ? new Float32Array(targets.rows.length).fill(1) : weighting.weights(targets, []);
      // The head is frozen, so its part of the gradient can be had at once, before the drafter's.
      const { outputs, gradient } = sections.loss.time(() => {
        const supervised = recording.outputs.output;
        const evaluated = ops.valueAndGrad([supervised], () => headLoss(supervised, batch, targets, weights));
        return { outputs: evaluated.outputs, gradient: evaluated.gradients[0]! };
      });
      made.push(gradient, ...Object.values(outputs));
      if (weighting.adaptive) {
        weights = await sections.loss.time(async () => {
          const adapted = weighting.weights(targets, await outputs.rowLosses.read());
          ops.scaleRowsInPlace(gradient, adapted);
          return adapted;
        });
      }
      const gradients = sections.backward.time(() => recording.backward(gradient));
      sections.forward.add("tokens", ids.length);
      for (const part of ["forward", "loss", "backward"] as const) sections[part].add("flops", flops[part]);
      const [rowLosses, predictions] = await sections.metrics.time(() =>
        Promise.all([outputs.rowLosses.read(), outputs.predictions.read()]),
      );
      return {
        loss: weights.reduce((sum, weight, row) => sum + weight * rowLosses[row]!, 0),
        divisor: weighting.divisor(targets, weights),
        gradients,
        rowLosses,
        predictions,
        flops: flops.forward + flops.loss + flops.backward,
      };
    } finally {
      recording.dispose();
      for (const tensor of made) tensor.dispose();
    }
  };
}
