import type { Ops } from "@dflash/ops";
import { hostBytes, uploadHiddenStates, type HiddenStateSource, type HostHiddenStates } from "../hostHiddenStates.ts";
import { mayPut } from "../queue/queuePolicy.ts";
import type { Token } from "@dflash/timer";
import type { TokenBatch } from "../tokenBatch.ts";
import { aheadSections, type LoopTimer } from "./loopSections.ts";
import type { Producer, ProducerContext, QueuedStates } from "./producer.ts";
import { settledWithin } from "./settledWithin.ts";

/** What a producer that works ahead of the consumer takes its hidden states from. */
export interface AheadProducerOptions {
  readonly source: HiddenStateSource;
  /** Of the consumer, where the hidden states go. */
  readonly ops: Ops;
  readonly timer: LoopTimer;
}

/** Part of the time that the consumer kept the event loop from turning: that long it is kept at most, for batches of tokens to be pulled. */
const patience = 0.1;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Asks a source for as many batches ahead of the consumer as the queue holds. They wait there in host memory, and are copied
 * to the consumer's engine when it takes them.
 *
 * A consumer that computes in this thread keeps the event loop from turning: what the source has sent is let in when it comes
 * back, and it goes to work when the source has been asked for all that there is room for. Without that the source would have
 * nothing to do while the consumer works.
 */
export function aheadProducer(context: ProducerContext, { source, ops, timer }: AheadProducerOptions): Producer {
  const { feed, queue, capture } = context;
  const sections = aheadSections(timer);
  let pulling: Promise<void> | undefined;
  let drained = false;
  let pulled = 0;
  let underWay = 0;
  let waiting = false;
  let left = 0;
  let turned = true;
  /** How long the consumer's last work kept the event loop from turning, ms; 0 when it did not. */
  let blockedMs = 0;
  let timed: Token | undefined;

  /** Data count while the consumer waits: while it works, its thread would only see much later that they are there. */
  const timeData = (): void => {
    if (waiting && pulling) timed ??= sections.data.begin();
    else {
      timed?.end();
      timed = undefined;
    }
  };

  const receive = (states: HostHiddenStates): ReturnType<QueuedStates["open"]> =>
    sections.receive.time(() => {
      const uploaded = uploadHiddenStates(ops, states);
      sections.receive.add("bytes", hostBytes(states));
      return capture.layout === "split" ? uploaded : { ...uploaded, features: uploaded.features[0]! };
    });

  async function fetch(index: number, batch: TokenBatch): Promise<void> {
    underWay++;
    try {
      const states = await source.states(batch, capture);
      const entry = { index, dispose: () => undefined };
      if (states) {
        const bytes = hostBytes(states);
        await context.deliver({ ...entry, batch: states.batch, bytes, open: () => receive(states) });
      } else await queue.put({ ...entry, batch, bytes: 0, open: () => null });
    } catch (error) {
      context.fail(error);
    }
    underWay--;
    if (drained && underWay === 0) queue.end();
  }

  /** Asks for batches as far ahead as the queue has room, one pull at a time. */
  async function fill(): Promise<void> {
    while (!drained && mayPut(queue, pulled - (queue.next ?? 0))) {
      const next = await feed.next();
      if (next) {
        pulled++;
        void fetch(next.order, next.batch);
      } else {
        drained = true;
        context.drained();
        if (underWay === 0) queue.end();
      }
    }
  }

  async function pull(): Promise<void> {
    try {
      await fill();
    } catch (error) {
      drained = true;
      context.fail(error);
    }
    pulling = undefined;
    timeData();
  }

  return {
    async enter() {
      waiting = true;
      blockedMs = turned ? 0 : performance.now() - left;
      timeData();
      await turn();
    },
    advance() {
      if (pulling === undefined && !drained) pulling = pull();
      timeData();
      return Promise.resolve();
    },
    async leave() {
      if (pulling && blockedMs > 0) await settledWithin(pulling, patience * blockedMs);
      waiting = false;
      timeData();
      left = performance.now();
      turned = false;
      setImmediate(() => (turned = true));
    },
  };
}
