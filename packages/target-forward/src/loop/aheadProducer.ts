import type { Ops } from "@dflash/ops";
import { hostBytes, uploadHiddenStates, type HiddenStateSource, type HostHiddenStates } from "../hostHiddenStates.ts";
import { mayPut } from "../queue/queuePolicy.ts";
import type { Token } from "@dflash/timer";
import type { TokenBatch } from "../tokenBatch.ts";
import { aheadSections, type LoopTimer } from "./loopSections.ts";
import type { Producer, ProducerContext, QueuedStates } from "./producer.ts";

/** What a producer that works ahead of the consumer takes its hidden states from. */
export interface AheadProducerOptions {
  readonly source: HiddenStateSource;
  /** Of the consumer, where the hidden states go. */
  readonly ops: Ops;
  readonly timer: LoopTimer;
}

/**
 * Asks a source for as many batches ahead of the consumer as the queue holds. They wait there in host memory, and are copied
 * to the consumer's engine when it takes them.
 */
export function aheadProducer(context: ProducerContext, { source, ops, timer }: AheadProducerOptions): Producer {
  const { feed, queue, capture } = context;
  const sections = aheadSections(timer);
  let pulling = false;
  let drained = false;
  let pulled = 0;
  let underWay = 0;
  let waiting = false;
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
    pulling = true;
    timeData();
    try {
      await fill();
    } catch (error) {
      drained = true;
      context.fail(error);
    }
    pulling = false;
    timeData();
  }

  return {
    advance() {
      waiting = true;
      if (pulling) timeData();
      else if (!drained) void pull();
      return Promise.resolve();
    },
    leave() {
      waiting = false;
      timeData();
    },
  };
}
