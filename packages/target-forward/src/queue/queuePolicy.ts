/** When a bounded, ordered queue lets a batch in and out. Pure, so that a replay of recorded times decides as the queue did. */
export interface QueuePolicy {
  /** Most batches that the queue holds. */
  readonly capacity: number;
  /** Batches that must be ready before one is taken, as long as more are to come. */
  readonly minReady: number;
}

/** Fills in the defaults (capacity 2, minReady 1); throws a RangeError when producers and consumer would wait for one another. */
export function queuePolicy({ capacity = 2, minReady = 1 }: Partial<QueuePolicy>): QueuePolicy {
  if (!Number.isInteger(capacity) || capacity < 1) {
    throw new RangeError(`queue capacity is ${capacity}, expected a whole number above 0`);
  }
  if (!Number.isInteger(minReady) || minReady < 1 || minReady > capacity) {
    throw new RangeError(`queue minReady is ${minReady}, expected a whole number from 1 to the capacity, ${capacity}`);
  }
  return { capacity, minReady };
}

/**
 * Whether the batch that stands `ahead` batches after the next one to be taken may enter. Places are kept for earlier
 * batches that are still being computed, so producers out of step never shut out the one that the consumer waits for.
 */
export function mayPut({ capacity }: QueuePolicy, ahead: number): boolean {
  return ahead < capacity;
}

/** Whether one of `ready` batches may be taken; `ended` when no more are to come. */
export function mayTake({ minReady }: QueuePolicy, ready: number, ended: boolean): boolean {
  return ready >= (ended ? 1 : minReady);
}
