import type { ChatPosition } from "@dflash/chat-data";
import { type DFlashDrafter, pruneCheckpoints, saveCheckpoint, type StepResult, type TrainStep } from "@dflash/drafter";
import { checkpointsOf } from "../drafterFolder.ts";
import type { Evaluator } from "./createEvaluator.ts";
import type { TrackedBatches } from "./trackPositions.ts";
import type { TrainConfig } from "./trainConfig.ts";
import { trainSettings } from "./trainSettings.ts";

export interface KeepCheckpointsOptions {
  config: TrainConfig;
  drafter: DFlashDrafter;
  step: TrainStep;
  batches: TrackedBatches;
  /** Real acceptance lengths; null where none are measured. */
  evaluator: Evaluator | null;
}

/** Saves a run's checkpoints. */
export interface Checkpoints {
  /** To be told of every step. */
  readonly note: (result: StepResult) => void;
  readonly save: (step: number) => Promise<void>;
}

/**
 * Checkpoints with the place in the data, scored by the real acceptance length where that was measured after the same step. In a
 * run that measures none, by the joint one in training over the steps since the checkpoint before.
 */
export function keepCheckpoints(options: KeepCheckpointsOptions): Checkpoints {
  const { config, drafter, step: trainStep, batches, evaluator } = options;
  const settings = trainSettings(config);
  const dir = checkpointsOf(config.out);
  let last = -1;
  let counted = { blocks: 0, accepted: 0 };
  return {
    note({ index, matches }) {
      last = index;
      batches.forgetBefore(index);
      if (matches === null) return;
      counted = { blocks: counted.blocks + matches.blocks, accepted: counted.accepted + matches.accepted };
    },
    async save(step) {
      const joint = counted.blocks === 0 ? null : 1 + counted.accepted / counted.blocks;
      const score = evaluator === null ? joint : evaluator.lengthAt(step);
      counted = { blocks: 0, accepted: 0 };
      await saveCheckpoint(dir, { step, drafter, trainStep, score, settings, carried: batches.after(last) });
      await pruneCheckpoints(dir, config.keep);
    },
  };
}

/** The place in the data that a checkpoint carries. @throws {Error} One line when it is none. */
export function positionOf(carried: unknown, checkpoint: string): ChatPosition {
  const position = new Map<string, unknown>(Object.entries(carried ?? {}));
  const count = (name: keyof ChatPosition): number => {
    const value = position.get(name);
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
    throw new Error(`${checkpoint}: carried.${name} is ${String(value)}, expected a place in the data`);
  };
  return { batch: count("batch"), epoch: count("epoch"), row: count("row"), taken: count("taken") };
}
