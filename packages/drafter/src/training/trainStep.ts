import type { Ops, Tensor } from "@dflash/ops";
import type { PackedHiddenStates, TargetHead } from "@dflash/target-forward";
import type { Timer } from "@dflash/timer";
import { blockRates, countMatches } from "../blocks/blockMatches.ts";
import { blockTargets } from "../blocks/blockTargets.ts";
import { sampleAnchors } from "../blocks/sampleAnchors.ts";
import { defaultGamma, slotWeights } from "../blocks/slotWeights.ts";
import type { DrafterConfig } from "../config/drafterConfig.ts";
import type { DFlashDrafter } from "../model/createDrafter.ts";
import type { OptimizerPart, TensorMap, UpdateFigures } from "../optimizer/optimizerPart.ts";
import { checkSeed } from "../philox.ts";
import { findNonFinite } from "./findNonFinite.ts";
import { createObjective } from "./objective.ts";
import type { Skip, StepResult } from "./stepResult.ts";

export interface TrainStepOptions {
  readonly drafter: DFlashDrafter;
  /** The target's embedding and LM head; stay as they are. */
  readonly head: TargetHead;
  readonly ops: Ops;
  /** Receives the sections `drafter/anchors`, `mask`, `noise`, `forward`, `loss`, `backward`, `clip`, `optimizer` and `metrics`. */
  readonly timer: Timer;
  /** In the order of their work. */
  readonly optimizer: readonly OptimizerPart[];
  /** Most anchors a row; the published recipes take 512. */
  readonly anchorsPerRow: number;
  /** Of the anchors, an integer from 0 to 2^32 − 1. */
  readonly seed: number;
  /** γ of the loss's decay over a block, null for none; `defaultGamma` unless given. */
  readonly gamma?: number | null;
}

/** Trains on one batch. The batch stays the caller's to dispose; of the step's own tensors none is left. */
export interface TrainStep {
  (batch: PackedHiddenStates): Promise<StepResult>;
  /** Frees the optimizer's state. */
  dispose(): void;
}

/**
 * Makes the step: anchors, forward, loss, backward and update. A step without anchors, or with a loss or gradient that
 * isn't finite, changes no parameter and says so.
 *
 * @throws {Error} When the head doesn't fit the drafter, or an option is out of range.
 */
export function createTrainStep(options: TrainStepOptions): TrainStep {
  const { drafter, head, ops, timer, optimizer, anchorsPerRow, seed, gamma } = options;
  const { config, parameters } = drafter;
  const { blockSize } = config;
  checkHead(config, head);
  checkSeed(seed);
  if (!Number.isInteger(anchorsPerRow) || anchorsPerRow < 1) {
    throw new RangeError(`anchorsPerRow is ${anchorsPerRow}, expected an integer of at least 1`);
  }
  const weights = slotWeights(blockSize, gamma === undefined ? defaultGamma(blockSize) : gamma);
  const objective = createObjective({ drafter, head, ops, timer });
  const sections = {
    anchors: timer.section("drafter/anchors"),
    backward: timer.section("drafter/backward"),
    clip: timer.section("drafter/clip"),
    metrics: timer.section("drafter/metrics"),
  };
  const parts = optimizer.map((part) => ({
    part,
    section: timer.section(part.section, { role: "optimizer" }),
    state: part.init(parameters),
  }));
  let updates = 0;

  const applyUpdate = (gradients: TensorMap, gradientNorm: number): UpdateFigures => {
    updates++;
    let figures: UpdateFigures = {};
    for (const { part, section, state } of parts) {
      const update = { parameters, gradients, gradientNorm, state, count: updates };
      figures = { ...figures, ...section.time(() => part.update(update)) };
    }
    return figures;
  };

  const nonFinite = async (batch: PackedHiddenStates, loss: Tensor, gradients: TensorMap): Promise<Skip> => {
    const suspects: (readonly [string, Tensor])[] = [
      ["features", batch.features],
      ...[...parameters].map(([name, tensor]) => [name, tensor] as const),
      ["loss", loss],
      ...[...gradients].map(([name, tensor]) => [`gradient of ${name}`, tensor] as const),
    ];
    return { cause: "non-finite", tensor: (await findNonFinite(ops, suspects)) ?? "global gradient norm" };
  };

  const step = async (batch: PackedHiddenStates): Promise<StepResult> => {
    const { blocks, targets } = sections.anchors.time(() => {
      const drawn = sampleAnchors(batch, { anchorsPerRow, seed });
      return { blocks: drawn, targets: blockTargets(drawn, batch, weights) };
    });
    const anchors = blocks.keep.reduce((sum, kept) => sum + kept, 0);
    const counted = { index: batch.index, tokens: batch.ids.length, anchors };
    const unchanged = { ...counted, updates, matches: null, rates: null, learningRate: null };
    if (anchors === 0) return { ...unchanged, skipped: { cause: "no-anchors" }, loss: null, gradientNorm: null };

    const recording = objective(batch, blocks, targets, targets.weightSum);
    const { loss, rowLosses, predictions } = recording.outputs;
    const made: Tensor[] = [loss, rowLosses, predictions];
    try {
      const list = sections.backward.time(() => recording.backward());
      made.push(...list);
      const gradients: TensorMap = new Map([...parameters.keys()].map((name, i) => [name, list[i]!]));
      const measured = await sections.clip.time(async () => ({
        loss: (await loss.read())[0]!,
        gradientNorm: await ops.globalNorm(list),
      }));
      if (!Number.isFinite(measured.loss) || !Number.isFinite(measured.gradientNorm)) {
        return { ...unchanged, ...measured, skipped: await nonFinite(batch, loss, gradients) };
      }
      const { learningRate = null } = applyUpdate(gradients, measured.gradientNorm);
      const matches = await sections.metrics.time(async () =>
        countMatches(targets, await predictions.read(), blockSize),
      );
      return { ...counted, ...measured, updates, skipped: null, matches, rates: blockRates(matches), learningRate };
    } finally {
      for (const tensor of made) tensor.dispose();
    }
  };

  return Object.assign(step, {
    dispose() {
      for (const { state } of parts) for (const tensor of state.values()) tensor.dispose();
    },
  });
}

function checkHead(config: DrafterConfig, head: TargetHead): void {
  for (const field of ["hiddenSize", "vocabSize"] as const) {
    if (head[field] === config[field]) continue;
    throw new Error(
      `train step: the target head's ${field} is ${head[field]}, expected the drafter's ${config[field]}`,
    );
  }
}
