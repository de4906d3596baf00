import type { Ops } from "@dflash/ops";
import type { Timer } from "@dflash/timer";
import { createGuardedEvents } from "./guardedEvents.ts";
import { createHiddenStateQueue, type HiddenStateQueue } from "./hiddenStateQueue.ts";
import { loopSections } from "./loopSections.ts";
import { packHiddenStates } from "./packHiddenStates.ts";
import type { PackedHiddenStates } from "./packedHiddenStates.ts";
import type { QueuePolicy } from "./queuePolicy.ts";
import type { TargetForwardOptions, TargetModel } from "./targetModel.ts";
import type { TokenBatch } from "./tokenBatch.ts";
import { untilAborted } from "./untilAborted.ts";

/** What the loop runs, on what, and how far ahead. */
export interface TargetForwardLoopOptions extends TargetForwardOptions, Partial<QueuePolicy> {
  model: TargetModel;
  /** What the model computes with; packs its features. */
  ops: Ops;
  /** Batches, numbered without gaps. Their iterator is closed when the loop ends early. */
  batches: AsyncIterable<TokenBatch>;
  /** Times `data`, `target/forward`, `target/pack`, `queue/full` and `queue/wait`. */
  timer?: Pick<Timer, "section">;
  /** Ends the loop: its iterator rejects with the signal's reason, once a forward that runs has finished. */
  signal?: AbortSignal;
}

/** Events of the loop with their payload: at most one of each a batch. */
export interface TargetForwardEvents {
  /** A batch went into the queue; `packedBytes` is the size of its joined features. */
  batch: { index: number; rows: number; tokens: number; packedBytes: number; depth: number };
  /** The consumer asked for a batch and fewer than `minReady` were ready. */
  starved: { depth: number; minReady: number };
  /** The source has no more batches; those in the queue are still to be delivered. */
  drained: { batches: number; tokens: number };
  /** The source, the model or the packing failed; the iterator rejects with the same error. */
  error: unknown;
  /** The iteration is over, whatever the reason. */
  end: { batches: number; tokens: number };
}

/** Listens to one event of the loop. */
export type TargetForwardListener<Name extends keyof TargetForwardEvents> = (
  payload: TargetForwardEvents[Name],
) => unknown;

/** Packed hidden states in batch order, to be iterated once; whoever takes one disposes it. */
export interface TargetForwardLoop extends AsyncIterable<PackedHiddenStates> {
  /** State of the queue between target and consumer. */
  readonly queue: Pick<HiddenStateQueue, "capacity" | "minReady" | "depth" | "demand" | "waits">;
  /** Subscribes to an event. A listener that throws, or rejects, is reported once and never reaches the loop. */
  on<Name extends keyof TargetForwardEvents>(event: Name, listener: TargetForwardListener<Name>): TargetForwardLoop;
  /** Subscribes to an event's next emit. */
  once<Name extends keyof TargetForwardEvents>(event: Name, listener: TargetForwardListener<Name>): TargetForwardLoop;
  /** Unsubscribes. */
  off<Name extends keyof TargetForwardEvents>(event: Name, listener: TargetForwardListener<Name>): TargetForwardLoop;
}

/**
 * Runs the target over `batches` in this thread. A batch is computed when the consumer asks for one, and no further ahead
 * than `minReady` demands: an engine in one thread has nothing to overlap with.
 *
 * @throws {RangeError} For a capacity or minReady that can't work.
 */
export function createTargetForwardLoop(options: TargetForwardLoopOptions): TargetForwardLoop {
  const { model, ops, batches, layerIds, captureLast = false, signal } = options;
  const queue = createHiddenStateQueue(options);
  const sections = loopSections(options.timer);
  const events = createGuardedEvents<TargetForwardEvents>("target-forward");
  const source = batches[Symbol.asyncIterator]();
  const counts = { batches: 0, tokens: 0 };
  let expected: number | undefined;

  async function produce(): Promise<void> {
    const pulled = await sections.data.time(() => untilAborted(source.next(), signal));
    if (pulled.done) {
      events.emit("drained", { ...counts });
      queue.end();
      return;
    }
    const batch = pulled.value;
    if (batch.index !== (expected ?? batch.index)) {
      throw new RangeError(`batches: batch ${batch.index} came where batch ${expected} was expected`);
    }
    expected = batch.index + 1;
    const hidden = await sections.forward.time(() => model.forward(batch, { layerIds, captureLast }));
    const packed = sections.pack.time(() => packHiddenStates(ops, batch, hidden, layerIds));
    const [tokens = 0, width = 0] = packed.features.shape;
    const packedBytes = tokens * width * Float32Array.BYTES_PER_ELEMENT;
    sections.forward.add("tokens", tokens);
    sections.pack.add("bytes", packedBytes);
    if (!(await sections.full.time(() => queue.put(packed)))) return;
    counts.batches++;
    counts.tokens += tokens;
    const { index, rowStarts } = batch;
    events.emit("batch", { index, rows: rowStarts.length - 1, tokens, packedBytes, depth: queue.depth });
  }

  /** Computes what the consumer waits for; what fails reaches it through the queue. */
  async function satisfyDemand(): Promise<void> {
    while (queue.demand > 0) {
      try {
        await produce();
      } catch (error) {
        queue.close(error);
        if (!signal?.aborted) events.emit("error", error);
      }
    }
  }

  async function take(): Promise<PackedHiddenStates | null> {
    const taking = queue.take();
    if (queue.demand > 0) events.emit("starved", { depth: queue.depth, minReady: queue.minReady });
    // Also after a failure the producer's sections must close before the consumer's wait does.
    await Promise.allSettled([taking, satisfyDemand()]);
    return taking;
  }

  async function* iterate(): AsyncGenerator<PackedHiddenStates, void, undefined> {
    try {
      for (let packed = await sections.wait.time(take); packed; packed = await sections.wait.time(take)) yield packed;
    } finally {
      queue.close();
      const closing = source.return?.();
      // A source that never answered the pull would not answer this either.
      if (!signal?.aborted) await closing;
      events.emit("end", { ...counts });
    }
  }

  const iterator = iterate();
  const loop: TargetForwardLoop = {
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
