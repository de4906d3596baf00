import type { Tensor } from "@dflash/ops";
import type { HiddenStates } from "@dflash/target-forward";

/** A batch to train on, with the target's features joined in one tensor or split by layer. */
export type TrainBatch = HiddenStates<Tensor | readonly Tensor[]>;
