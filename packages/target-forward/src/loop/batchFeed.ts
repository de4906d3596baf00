import type { TokenBatch } from "../tokenBatch.ts";
import { untilAborted } from "./untilAborted.ts";

/** A source of batches that is taken from by hand. */
export interface BatchFeed {
  /** The next batch and its number in this feed, from 0; null after the last one. Rejects when the signal aborts. */
  next(): Promise<{ readonly order: number; readonly batch: TokenBatch } | null>;
  /** Closes the source. */
  close(): Promise<void>;
}

/** Takes batches one after another and checks that they are numbered without gaps. */
export function createBatchFeed(batches: AsyncIterable<TokenBatch>, signal: AbortSignal | undefined): BatchFeed {
  const source = batches[Symbol.asyncIterator]();
  let first: number | undefined;
  let order = 0;
  return {
    async next() {
      const pulled = await untilAborted(source.next(), signal);
      if (pulled.done) return null;
      const batch = pulled.value;
      first ??= batch.index;
      if (batch.index !== first + order) {
        throw new RangeError(`batches: batch ${batch.index} came where batch ${first + order} was expected`);
      }
      return { order: order++, batch };
    },
    async close() {
      const closing = source.return?.();
      // A source that never answered the pull would not answer this either.
      if (!signal?.aborted) await closing;
    },
  };
}
