import type { Ops } from "@dflash/ops";
import type { TargetModel } from "../targetModel.ts";
import { inlineSections, type LoopTimer } from "./loopSections.ts";
import { featureTensors, packHiddenStates } from "./packHiddenStates.ts";
import type { Producer, ProducerContext } from "./producer.ts";

/** What an inline producer computes with. */
export interface InlineProducerOptions {
  readonly model: TargetModel;
  readonly ops: Ops;
  readonly timer: LoopTimer;
}

/**
 * Runs the target in the consumer's thread: a batch is computed when the consumer waits for one, and no further ahead than
 * `minReady` demands, since one thread's engine has nothing to overlap with.
 */
export function inlineProducer(context: ProducerContext, options: InlineProducerOptions): Producer {
  const { feed, queue, capture } = context;
  const { model, ops } = options;
  const sections = inlineSections(options.timer);

  async function produce(): Promise<void> {
    const pulled = await sections.data.time(() => feed.next());
    if (!pulled) {
      context.drained();
      queue.end();
      return;
    }
    const { order, batch } = pulled;
    const hidden = await sections.forward.time(() => model.forward(batch, capture));
    sections.forward.add("tokens", batch.ids.length);
    const packed = sections.pack.time(() => packHiddenStates({ ops, ...capture }, batch, hidden));
    const bytes = featureTensors(packed).reduce((sum, { shape }) => sum + 4 * shape[0]! * shape[1]!, 0);
    if (capture.layout === "joined") sections.pack.add("bytes", bytes);
    const states = { index: order, batch, bytes, open: () => packed, dispose: () => packed.dispose() };
    await sections.full.time(() => context.deliver(states));
  }

  return {
    async advance() {
      while (queue.demand > 0) {
        try {
          await produce();
        } catch (error) {
          context.fail(error);
        }
      }
    },
  };
}
