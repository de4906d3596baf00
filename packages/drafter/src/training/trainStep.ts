import type { Ops, Tensor } from "@dflash/ops";
import type { TargetHead } from "@dflash/target-forward";
import type { Timer } from "@dflash/timer";
import { blockRates, countMatches } from "../blocks/blockMatches.ts";
import { blockTargets } from "../blocks/blockTargets.ts";
import { type AnchorOptions, createAnchorSampler } from "../blocks/createAnchorSampler.ts";
import type { DrafterConfig } from "../config/drafterConfig.ts";
import type { Loss } from "../loss/loss.ts";
import type { DFlashDrafter } from "../model/createDrafter.ts";
import type { WeightSource } from "../model/randomWeights.ts";
import { createOptimizer } from "../optimizer/createOptimizer.ts";
import type { OptimizerPart, TensorMap } from "../optimizer/optimizerPart.ts";
import { findNonFinite } from "./findNonFinite.ts";
import { createObjective, type HeadChunk } from "./objective.ts";
import type { StepResult } from "./stepResult.ts";
import { createStepWindow } from "./stepWindow.ts";
import type { TrainBatch } from "./trainBatch.ts";

/** Settings of {@link createTrainStep}. */
export interface TrainStepOptions extends Omit<AnchorOptions, "blockSize"> {
  /** What is trained. */
  readonly drafter: DFlashDrafter;
  /** The target's embedding and LM head; stay as they are. */
  readonly head: TargetHead;
  /** What it computes with, the drafter's. */
  readonly ops: Ops;
  /** Receives the sections `drafter/anchors`, `mask`, `noise`, `forward`, `loss`, `backward`, `metrics`, `clip` and `optimizer`. */
  readonly timer: Timer;
  /** In the order of their work. */
  readonly optimizer: readonly OptimizerPart[];
  /** Decay unless given. */
  readonly loss?: Loss;
  /** Bounds the memory of the head's logits. */
  readonly headChunk?: HeadChunk;
  /** Adds numbers up over all processes that train together; they are this process's own unless given. */
  readonly reduceSum?: (values: readonly number[]) => Promise<readonly number[]>;
}

/** What a step counts over the whole run. */
export interface StepCounters {
  /** Updates of the parameters. */
  readonly updates: number;
  /** Non-finite steps since the last update. */
  readonly skippedInARow: number;
}

/** Trains the drafter on windows of one or more batches. */
export interface TrainStep {
  /** Adds a batch's gradients to the window. The batch stays the caller's to dispose. */
  accumulate(batch: TrainBatch): Promise<void>;
  /**
   * Ends the window: updates the parameters by its gradients, which are those of all its batches at once. A window without
   * anchors, or with a loss or gradient that isn't finite, changes no parameter and says so.
   */
  update(): Promise<StepResult>;
  /** What it counts over the whole run. */
  readonly counters: StepCounters;
  /** The optimizer's tensors by name; together with the parameters and the counters all that a step depends on. */
  readonly optimizerState: TensorMap;
  /** Goes on from where another run was. */
  restore(counters: StepCounters, optimizerState: WeightSource): Promise<void>;
  /** Frees the window's gradients and the optimizer's state. */
  dispose(): void;
}

/** @throws {Error} When the head doesn't fit the drafter, or an option is out of range. */
export function createTrainStep(options: TrainStepOptions): TrainStep {
  const { drafter, head, ops, timer, loss = { type: "decay" }, reduceSum = async (values) => values } = options;
  const { config, parameters } = drafter;
  const { blockSize } = config;
  checkHead(config, head);
  const sampleAnchors = createAnchorSampler({ ...options, blockSize });
  const objective = createObjective({ ...options, loss });
  const optimizer = createOptimizer(options.optimizer, parameters, timer);
  const sections = {
    anchors: timer.section("drafter/anchors"),
    clip: timer.section("drafter/clip"),
    metrics: timer.section("drafter/metrics"),
  };
  let counters: StepCounters = { updates: 0, skippedInARow: 0 };
  let window = createStepWindow(ops);
  /** The first tensor of the window that was found to be not finite. */
  let fault: string | null = null;

  /** The window's mean gradients under their names, and their norm. */
  const normalise = async (divisor: number): Promise<{ gradients: TensorMap; gradientNorm: number }> => {
    // Without anchors here, the other processes' gradients count all the same.
    if (window.gradients.length === 0) window.fill([...parameters.values()].map(({ shape }) => ops.zeros(shape)));
    const { gradients } = window;
    const gradientNorm = (await ops.globalNorm(gradients)) / divisor;
    for (const gradient of gradients) ops.scaleInPlace(gradient, 1 / divisor);
    return { gradients: new Map([...parameters.keys()].map((name, i) => [name, gradients[i]!])), gradientNorm };
  };

  const finish = async (): Promise<StepResult> => {
    const { counts, matches } = window;
    const unchanged = { ...counts, matches: null, rates: null, learningRate: null };
    const [sum = Number.NaN, divisor = Number.NaN] = await reduceSum([window.loss, window.divisor]);
    if (divisor === 0)
      return { ...unchanged, ...counters, skipped: { cause: "no-anchors" }, loss: null, gradientNorm: null };

    const { gradients, gradientNorm } = await sections.clip.time(() => normalise(divisor));
    const measured = { loss: sum / divisor, gradientNorm };
    if (fault !== null || !Number.isFinite(sum) || !Number.isFinite(gradientNorm)) {
      const named = [...gradients].map(([name, gradient]) => [`gradient of ${name}`, gradient] as const);
      const tensor = fault ?? (await findNonFinite(ops, named)) ?? "global gradient norm";
      counters = { ...counters, skippedInARow: counters.skippedInARow + 1 };
      return { ...unchanged, ...measured, ...counters, skipped: { cause: "non-finite", tensor } };
    }
    counters = { updates: counters.updates + 1, skippedInARow: 0 };
    const { learningRate = null } = optimizer.update(gradients, gradientNorm, counters.updates);
    const rates = matches && blockRates(matches);
    return { ...counts, ...measured, ...counters, skipped: null, matches, rates, learningRate };
  };

  return {
    async accumulate(batch) {
      const { blocks, targets } = sections.anchors.time(() => {
        const drawn = sampleAnchors(batch);
        return { blocks: drawn, targets: blockTargets(drawn, batch, blockSize) };
      });
      window.open({ index: batch.index, tokens: batch.ids.length, anchors: blocks.anchors.length });
      if (targets.rows.length === 0) return;
      const evaluation = await objective(batch, blocks, targets);
      const matches = sections.metrics.time(() => countMatches(targets, evaluation, blockSize));
      window.add({ ...evaluation, matches });
      // Now, while its features are there to be looked at.
      if (!Number.isFinite(evaluation.loss)) {
        fault ??= (await findNonFinite(ops, [...batchTensors(batch), ...parameters])) ?? "loss";
      }
    },

    async update() {
      try {
        return await finish();
      } finally {
        window.dispose();
        window = createStepWindow(ops);
        fault = null;
      }
    },

    get counters() {
      return counters;
    },
    optimizerState: optimizer.state,

    async restore(before, optimizerState) {
      counters = { ...before };
      await optimizer.restore(ops, optimizerState);
    },

    dispose() {
      window.dispose();
      optimizer.dispose();
    },
  };
}

function batchTensors({ features, last }: TrainBatch): (readonly [string, Tensor])[] {
  const all = "dispose" in features ? [features] : features;
  return [
    ...all.map((tensor) => ["features", tensor] as const),
    ...(last === null ? [] : [["last hidden states", last] as const]),
  ];
}

function checkHead(config: DrafterConfig, head: TargetHead): void {
  for (const field of ["hiddenSize", "vocabSize"] as const) {
    if (head[field] === config[field]) continue;
    throw new Error(
      `train step: the target head's ${field} is ${head[field]}, expected the drafter's ${config[field]}`,
    );
  }
}
