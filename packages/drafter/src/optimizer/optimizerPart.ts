import type { Tensor } from "@dflash/ops";

/** Tensors by name. */
export type TensorMap = ReadonlyMap<string, Tensor>;

/** One update on its way through the parts of an optimizer. */
export interface Update {
  /** Changed in place by the last part. */
  readonly parameters: TensorMap;
  /** One a parameter, under its name; parts may change them in place. */
  readonly gradients: TensorMap;
  /** √Σ‖gradient‖² as it came from the backward pass; finite. */
  readonly gradientNorm: number;
  /** What `init` of this part returned. */
  readonly state: TensorMap;
  /** Number of this update, from 1; skipped steps don't count. */
  readonly count: number;
}

/** What a part has to say for the log. */
export interface UpdateFigures {
  /** The learning rate of this update. */
  readonly learningRate?: number;
}

/**
 * An init/update pair, as optax has them, except that updates happen in place: an optimizer is a list of parts, such as
 * `[clipByGlobalNorm({ ops }), adamW({ ops, learningRate })]`.
 */
export interface OptimizerPart {
  /** Section that its time is charged to. */
  readonly section: string;
  /** Makes the tensors that it keeps between updates; part of a checkpoint. */
  init(parameters: TensorMap): TensorMap;
  /** Does its part of one update, and says what it did for the log. */
  update(update: Update): UpdateFigures;
}
