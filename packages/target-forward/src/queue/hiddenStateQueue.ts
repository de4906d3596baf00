import type { PackedHiddenStates } from "../hiddenStates.ts";
import { mayPut, mayTake, queuePolicy, type QueuePolicy } from "./queuePolicy.ts";

/** Bounds of the queue, and what closes it. */
export interface HiddenStateQueueOptions extends Partial<QueuePolicy> {
  /** Index of the first batch to be taken, to be given with several producers; that of the first one put unless given. */
  firstIndex?: number;
  /** Closes the queue with the signal's reason. */
  signal?: AbortSignal;
}

/** What a queue holds: a numbered batch that can be freed. */
export type QueuedBatch = Pick<PackedHiddenStates, "index" | "dispose">;

/** Bounded queue of hidden states between producers and a consumer, which takes them in the order of their index. */
export interface HiddenStateQueue<Batch extends QueuedBatch = PackedHiddenStates> extends QueuePolicy {
  /** Batches that can be taken one after another. */
  readonly depth: number;
  /** Batches that could be taken when the last take began: what the consumer found ready. */
  readonly found: number;
  /** Index of the next batch to be taken; undefined until it is known. */
  readonly next: number | undefined;
  /** Takes that wait for a batch. */
  readonly demand: number;
  /** How many puts and takes had to wait so far. */
  readonly waits: { readonly put: number; readonly take: number };
  /**
   * Hands a batch over, waiting while the queue is full. Batches are numbered without gaps.
   * Resolves to false, and disposes the batch, when the queue is closed.
   */
  put(batch: Batch): Promise<boolean>;
  /**
   * Waits until a batch may be taken; whoever takes it disposes it. Resolves to null after the last one and when the
   * queue is closed; rejects when it is closed with an error.
   */
  take(): Promise<Batch | null>;
  /** No more batches will be put. Those that wait to be put, and those held, are still handed over. */
  end(): void;
  /** Disposes what is held and lets everyone go who waits: takes reject with `error`, where there is one. */
  close(error?: unknown): void;
}

interface WaitingPut<Batch> {
  readonly batch: Batch;
  readonly resolve: (taken: boolean) => void;
}

interface WaitingTake<Batch> {
  readonly resolve: (batch: Batch | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Makes an empty queue; throws a RangeError for a capacity or minReady that can't work. */
export function createHiddenStateQueue<Batch extends QueuedBatch = PackedHiddenStates>(
  options: HiddenStateQueueOptions = {},
): HiddenStateQueue<Batch> {
  const { signal } = options;
  const policy = queuePolicy(options);
  const held = new Map<number, Batch>();
  const puts = new Map<number, WaitingPut<Batch>>();
  const takes: WaitingTake<Batch>[] = [];
  const waits = { put: 0, take: 0 };
  let next = options.firstIndex;
  let depth = 0;
  let found = 0;
  let ended = false;
  let closed: { readonly error: unknown } | undefined;

  const admit = (): void => {
    if (next === undefined) return;
    for (const [index, { batch, resolve }] of puts) {
      if (!mayPut(policy, index - next)) continue;
      puts.delete(index);
      held.set(index, batch);
      resolve(true);
    }
    while (held.has(next + depth)) depth++;
  };
  const grant = (take: WaitingTake<Batch>): boolean => {
    if (next !== undefined && mayTake(policy, depth, ended)) {
      take.resolve(held.get(next) ?? null);
      held.delete(next++);
      depth--;
      return true;
    }
    if (!ended) return false;
    if (held.size + puts.size > 0) close(new Error(`batch ${next} was never put into the queue, later ones were`));
    else take.resolve(null);
    return true;
  };
  const settle = (): void => {
    admit();
    while (takes[0] && grant(takes[0])) {
      takes.shift();
      admit();
    }
  };
  const close = (error?: unknown): void => {
    if (closed) return;
    closed = { error };
    signal?.removeEventListener("abort", abort);
    for (const batch of held.values()) batch.dispose();
    for (const { batch, resolve } of puts.values()) {
      batch.dispose();
      resolve(false);
    }
    for (const { resolve, reject } of takes) {
      if (error === undefined) resolve(null);
      else reject(error);
    }
    held.clear();
    puts.clear();
    takes.length = 0;
    depth = 0;
  };
  const abort = (): void => close(signal?.reason);
  if (signal?.aborted) abort();
  else signal?.addEventListener("abort", abort);

  return {
    ...policy,
    waits,
    get depth() {
      return depth;
    },
    get found() {
      return found;
    },
    get next() {
      return next;
    },
    get demand() {
      return takes.length;
    },
    async put(batch) {
      if (closed) {
        batch.dispose();
        return false;
      }
      const { index } = batch;
      next ??= index;
      if (ended) throw new Error(`batch ${index} was put into a queue that had ended`);
      if (index < next || held.has(index) || puts.has(index)) throw new RangeError(`batch ${index} was put twice`);
      return new Promise((resolve) => {
        puts.set(index, { batch, resolve });
        settle();
        if (puts.has(index)) waits.put++;
      });
    },
    async take() {
      found = depth;
      if (closed && closed.error !== undefined) throw closed.error;
      if (closed) return null;
      return new Promise((resolve, reject) => {
        const take = { resolve, reject };
        takes.push(take);
        settle();
        if (takes.includes(take)) waits.take++;
      });
    },
    end() {
      ended = true;
      settle();
    },
    close,
  };
}
