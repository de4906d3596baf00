import type { Tensor } from "@dflash/ops";
import type { HiddenStates } from "../hiddenStates.ts";
import type { HiddenStateQueue, QueuedBatch } from "../queue/hiddenStateQueue.ts";
import type { CaptureOptions } from "../targetModel.ts";
import type { TokenBatch } from "../tokenBatch.ts";
import type { BatchFeed } from "./batchFeed.ts";

/** Hidden states in the queue, whose `index` is their order in the loop. */
export interface QueuedStates extends QueuedBatch {
  readonly batch: TokenBatch;
  /** Bytes that they hold. */
  readonly bytes: number;
  /** Hands them over as tensors of the consumer's engine; null for a batch that is passed over. */
  open(): HiddenStates<Tensor | readonly Tensor[]> | null;
}

/** What fills the queue. */
export interface Producer {
  /** The consumer comes from its work and wants a batch. */
  enter?(): Promise<void>;
  /**
   * Produces what the consumer's demand or the room in the queue asks for. Called before and after each batch that is taken.
   * Resolves when the consumer's own thread has done its part.
   */
  advance(): Promise<void>;
  /** The consumer has its batch and goes to work. */
  leave?(): Promise<void>;
}

/** What a producer works with. */
export interface ProducerContext {
  readonly feed: BatchFeed;
  readonly queue: HiddenStateQueue<QueuedStates>;
  readonly capture: CaptureOptions;
  /** The feed has ended. */
  drained(): void;
  /** Puts hidden states into the queue, waiting while it is full, and says so. */
  deliver(states: QueuedStates): Promise<void>;
  /** Ends the loop with an error. */
  fail(error: unknown): void;
}
