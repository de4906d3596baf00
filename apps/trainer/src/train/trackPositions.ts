import type { ChatBatch, ChatPosition } from "@dflash/chat-data";

/** Batches that remember where the data goes on behind each of them, however far ahead of training they are read. */
export interface TrackedBatches extends AsyncIterable<ChatBatch> {
  /** Where the data goes on after the batch of that index. */
  after(index: number): ChatPosition;
  /** Forgets all batches before that index. */
  forgetBefore(index: number): void;
}

export function trackPositions(batches: AsyncIterable<ChatBatch>): TrackedBatches {
  const positions = new Map<number, ChatPosition>();
  return {
    async *[Symbol.asyncIterator]() {
      for await (const batch of batches) {
        positions.set(batch.index, batch.next);
        yield batch;
      }
    },
    after(index) {
      const position = positions.get(index);
      if (position === undefined) throw new Error(`checkpoint: batch ${index} was never read, or is forgotten`);
      return position;
    },
    forgetBefore(index) {
      for (const known of positions.keys()) if (known < index) positions.delete(known);
    },
  };
}
