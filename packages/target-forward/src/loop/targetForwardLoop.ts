import type { Ops, Tensor } from "@dflash/ops";
import { createGuardedEmitter, type Timer } from "@dflash/timer";
import type { FeatureLayout, HiddenStates, PackedHiddenStates, SplitHiddenStates } from "../hiddenStates.ts";
import type { HiddenStateSource } from "../hostHiddenStates.ts";
import { createHiddenStateQueue, type HiddenStateQueue } from "../queue/hiddenStateQueue.ts";
import type { QueuePolicy } from "../queue/queuePolicy.ts";
import type { CaptureOptions, TargetForwardOptions, TargetModel } from "../targetModel.ts";
import type { TokenBatch } from "../tokenBatch.ts";
import { aheadProducer } from "./aheadProducer.ts";
import { createBatchFeed } from "./batchFeed.ts";
import { inlineProducer } from "./inlineProducer.ts";
import { waitSection } from "./loopSections.ts";
import type { ProducerContext, QueuedStates } from "./producer.ts";

/** What the loop runs, on what, and how far ahead. */
export interface LoopOptions extends TargetForwardOptions, Partial<QueuePolicy> {
  /** Of the consumer; inline the model computes with them too. */
  ops: Ops;
  /** Batches, numbered without gaps. Their iterator is closed when the loop ends early. */
  batches: AsyncIterable<TokenBatch>;
  /** Times `data` and `queue/wait`; inline `target/forward`, `target/pack` and `queue/full`; with a source `queue/receive`. */
  timer?: Pick<Timer, "section">;
  /** Ends the loop: its iterator rejects with the signal's reason, once a forward that runs has finished. */
  signal?: AbortSignal;
}

/** A loop computes in this thread with `model`, or takes what a `source` computes elsewhere or has on disk. */
export type TargetForwardLoopOptions = LoopOptions &
  ({ model: TargetModel; source?: undefined } | { source: HiddenStateSource; model?: undefined });

/** Events of the loop with their payload: at most one of each a batch. */
export interface TargetForwardEvents {
  /** A batch went into the queue; `bytes` is the size of its hidden states there, `shapes` how many token counts there were so far. */
  batch: { index: number; rows: number; tokens: number; bytes: number; shapes: number; depth: number };
  /** The consumer asked for a batch and fewer than `minReady` were ready. */
  starved: { depth: number; minReady: number };
  /** The source has no more batches; those in the queue are still to be delivered. */
  drained: { batches: number; tokens: number };
  /** The batches, the model, the source or the packing failed; the iterator rejects with the same error. */
  error: unknown;
  /** The iteration is over, whatever the reason. */
  end: { batches: number; tokens: number };
}

/** Listens to one event of the loop. */
export type TargetForwardListener<Name extends keyof TargetForwardEvents> = (
  payload: TargetForwardEvents[Name],
) => unknown;

/** State of the queue between target and consumer. */
export type LoopQueue = Pick<HiddenStateQueue, "capacity" | "minReady" | "depth" | "found" | "demand" | "waits">;

/** Hidden states in batch order, to be iterated once; whoever takes one disposes it. */
export interface TargetForwardLoop<States = PackedHiddenStates> extends AsyncIterable<States> {
  /** What is ready, and who waited how often. */
  readonly queue: LoopQueue;
  /** Subscribes to an event. A listener that throws, or rejects, is reported once and never reaches the loop. */
  on<Name extends keyof TargetForwardEvents>(event: Name, listener: TargetForwardListener<Name>): this;
  /** Subscribes to an event's next emit. */
  once<Name extends keyof TargetForwardEvents>(event: Name, listener: TargetForwardListener<Name>): this;
  /** Unsubscribes. */
  off<Name extends keyof TargetForwardEvents>(event: Name, listener: TargetForwardListener<Name>): this;
}

/**
 * Runs the target over `batches`. With a model, a batch is computed in this thread when the consumer asks for one, and no
 * further ahead than `minReady` demands. With a source, up to `capacity` batches are under way while the consumer works.
 *
 * @throws {RangeError} For a capacity or minReady that can't work.
 */
export function createTargetForwardLoop(
  options: TargetForwardLoopOptions & { layout: "split" },
): TargetForwardLoop<SplitHiddenStates>;
export function createTargetForwardLoop(options: TargetForwardLoopOptions & { layout?: "joined" }): TargetForwardLoop;
export function createTargetForwardLoop(
  options: TargetForwardLoopOptions & { layout: FeatureLayout },
): TargetForwardLoop<HiddenStates<Tensor | readonly Tensor[]>>;
export function createTargetForwardLoop(
  options: TargetForwardLoopOptions & Partial<CaptureOptions>,
): TargetForwardLoop<HiddenStates<Tensor | readonly Tensor[]>> {
  const { ops, layerIds, captureLast = false, layout = "joined", signal, timer } = options;
  const queue = createHiddenStateQueue<QueuedStates>({ ...options, firstIndex: 0 });
  const events = createGuardedEmitter<TargetForwardEvents>("target-forward");
  const feed = createBatchFeed(options.batches, signal);
  const counts = { batches: 0, tokens: 0 };
  const shapes = new Set<number>();
  let over = false;

  const context: ProducerContext = {
    feed,
    queue,
    capture: { layerIds, captureLast, layout },
    drained: () => events.emit("drained", { ...counts }),
    async deliver(states) {
      if (!(await queue.put(states))) return;
      const { index, ids, rowStarts } = states.batch;
      const tokens = ids.length;
      counts.batches++;
      counts.tokens += tokens;
      shapes.add(tokens);
      const { bytes } = states;
      events.emit("batch", {
        index,
        rows: rowStarts.length - 1,
        tokens,
        bytes,
        shapes: shapes.size,
        depth: queue.depth,
      });
    },
    fail(error) {
      if (over) return;
      over = true;
      queue.close(error);
      if (!signal?.aborted) events.emit("error", error);
    },
  };
  const wait = waitSection(timer);
  const producer = options.source
    ? aheadProducer(context, { source: options.source, ops, timer })
    : inlineProducer(context, { model: options.model, ops, timer });

  async function take(): Promise<HiddenStates<Tensor | readonly Tensor[]> | null> {
    await producer.enter?.();
    for (;;) {
      const taking = queue.take();
      if (queue.demand > 0) events.emit("starved", { depth: queue.depth, minReady: queue.minReady });
      // Also after a failure an inline producer's sections must close before the consumer's wait does.
      await Promise.allSettled([taking, producer.advance()]);
      const taken = await taking;
      await producer.advance();
      const states = taken?.open();
      if (taken && !states) continue;
      await producer.leave?.();
      return states ?? null;
    }
  }

  async function* iterate(): AsyncGenerator<HiddenStates<Tensor | readonly Tensor[]>, void, undefined> {
    try {
      for (let states = await wait.time(take); states; states = await wait.time(take)) yield states;
    } finally {
      over = true;
      queue.close();
      await feed.close();
      events.emit("end", { ...counts });
    }
  }

  const iterator = iterate();
  const loop: TargetForwardLoop<HiddenStates<Tensor | readonly Tensor[]>> = {
    queue,
    on(event, listener) {
      events.on(event, listener);
      return loop;
    },
    once(event, listener) {
      events.once(event, listener);
      return loop;
    },
    off(event, listener) {
      events.off(event, listener);
      return loop;
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return loop;
}
