import type { BlockMatches, BlockRates } from "../blocks/blockMatches.ts";

/** Why a step left the parameters alone. */
export type Skip =
  /** No row has two consecutive supervised tokens. */
  | { readonly cause: "no-anchors" }
  /** Names the first tensor, in the order of computation, that holds a NaN or an infinity. */
  | { readonly cause: "non-finite"; readonly tensor: string };

/** What one step did. */
export interface StepResult {
  /** Index of its last batch. */
  readonly index: number;
  /** Batches of its window. */
  readonly batches: number;
  /** Updates done so far, this one included. */
  readonly updates: number;
  /** Non-finite steps since the last update. */
  readonly skippedInARow: number;
  /** null when the parameters were updated. */
  readonly skipped: Skip | null;
  /** Tokens of its batches. */
  readonly tokens: number;
  /** Blocks trained on. */
  readonly anchors: number;
  /** Floating-point operations of the drafter and the head, forward and backward. */
  readonly flops: number;
  /** As the loss has it, such as the mean cross-entropy of the supervised slots under the decay's weights, nats; null without anchors. */
  readonly loss: number | null;
  /** null when skipped, as are the next two. */
  readonly matches: BlockMatches | null;
  /** Accuracy, loss by slot and acceptance length over the window. */
  readonly rates: BlockRates | null;
  /** The learning rate of the update. */
  readonly learningRate: number | null;
  /** Global norm before clipping; null without anchors. */
  readonly gradientNorm: number | null;
}
