import { startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHiddenStateQueue, type HiddenStateQueue, type HiddenStateQueueOptions } from "./hiddenStateQueue.ts";
import { packedBatch } from "../packed.test-support.ts";

/** Lets everything run that doesn't wait for something. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Whether a promise is settled already. */
const isPending = (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    promise.then(
      () => false,
      () => false,
    ),
    turn().then(() => true),
  ]);

/** The index of the next batch, which is freed. */
async function take(queue: HiddenStateQueue): Promise<number | null> {
  const packed = await queue.take();
  if (!packed) return null;
  const [value] = await packed.features.read();
  packed.dispose();
  return value ?? null;
}
/** All batches that are left, in the order in which they come. */
async function drain(queue: HiddenStateQueue): Promise<number[]> {
  const taken: number[] = [];
  for (let value = await take(queue); value !== null; value = await take(queue)) taken.push(value);
  return taken;
}

describe("the queue of hidden states", () => {
  let ops: Ops;
  beforeAll(async () => {
    ops = createOps(await startEngine("cpu"));
  });
  afterAll(() => ops.engine.dispose());

  const live = (): number => ops.engine.memory().tensors;
  const put = (queue: HiddenStateQueue, index: number): Promise<boolean> => queue.put(packedBatch(ops, index));

  it("makes the producer wait while it is full and the consumer while it is empty", async () => {
    const queue = createHiddenStateQueue({ capacity: 2 });
    const first = take(queue);
    expect(await isPending(first)).toBe(true);
    expect(queue).toMatchObject({ depth: 0, demand: 1, waits: { put: 0, take: 1 } });
    expect(await put(queue, 7)).toBe(true);
    expect(await first).toBe(7);
    await put(queue, 8);
    await put(queue, 9);
    const third = put(queue, 10);
    expect(await isPending(third)).toBe(true);
    expect(queue).toMatchObject({ depth: 2, found: 0, demand: 0, waits: { put: 1, take: 1 } });
    expect(await take(queue)).toBe(8);
    expect(queue).toMatchObject({ found: 2 });
    expect(await third).toBe(true);
    queue.end();
    expect(await drain(queue)).toEqual([9, 10]);
    expect(await take(queue)).toBeNull();
    expect(live()).toBe(0);
  });

  it("gives nothing before minReady batches are ready, and the rest once no more are to come", async () => {
    const queue = createHiddenStateQueue({ capacity: 3, minReady: 3 });
    const first = take(queue);
    await put(queue, 0);
    await put(queue, 1);
    expect(await isPending(first)).toBe(true);
    await put(queue, 2);
    expect(await first).toBe(0);
    const second = take(queue);
    expect(await isPending(second)).toBe(true);
    queue.end();
    expect(await second).toBe(1);
    expect(await drain(queue)).toEqual([2]);
    expect(live()).toBe(0);
  });

  it("delivers in order, within its capacity, whatever the producers' order and pace", () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({
          count: fc.nat(24),
          producers: fc.integer({ min: 1, max: 5 }),
          capacity: fc.integer({ min: 1, max: 4 }),
          minReady: fc.integer({ min: 1, max: 4 }),
          firstIndex: fc.nat(5),
          pauses: fc.infiniteStream(fc.nat(3)),
        }),
        async ({ count, producers, capacity, minReady, firstIndex, pauses }) => {
          const options: HiddenStateQueueOptions = { capacity, minReady: Math.min(minReady, capacity), firstIndex };
          const queue = createHiddenStateQueue(options);
          const pause = async (): Promise<void> => {
            for (let turns = pauses.next().value ?? 0; turns > 0; turns--) await turn();
          };
          let next = firstIndex;
          const work = Array.from({ length: producers }, async () => {
            while (next < firstIndex + count) {
              const index = next++;
              await pause();
              expect(await put(queue, index)).toBe(true);
              expect(live()).toBeLessThanOrEqual(capacity + producers + 1);
            }
          });
          const produced = Promise.all(work).then(() => queue.end());
          const taken: number[] = [];
          for (let value = await take(queue); value !== null; value = await take(queue)) {
            taken.push(value);
            await pause();
          }
          await produced;
          expect(taken).toEqual(Array.from({ length: count }, (_, i) => firstIndex + i));
          expect(live()).toBe(0);
        },
      ),
      { numRuns: 60 },
    ));

  it("frees what is left, and lets both sides go, when it is closed", async () => {
    const queue = createHiddenStateQueue({ capacity: 1 });
    await put(queue, 0);
    const waiting = put(queue, 1);
    queue.close();
    expect(await waiting).toBe(false);
    expect(await put(queue, 2)).toBe(false);
    expect(await take(queue)).toBeNull();
    expect(live()).toBe(0);
  });

  it("hands an error to whoever waits and whoever comes", async () => {
    const queue = createHiddenStateQueue();
    const waiting = take(queue);
    queue.close(new Error("the target is gone"));
    await expect(waiting).rejects.toThrow("the target is gone");
    await expect(take(queue)).rejects.toThrow("the target is gone");
  });

  it("is closed by its signal", async () => {
    const controller = new AbortController();
    const queue = createHiddenStateQueue({ minReady: 2, signal: controller.signal });
    await put(queue, 0);
    const waiting = take(queue);
    controller.abort(new Error("stopped by hand"));
    await expect(waiting).rejects.toThrow("stopped by hand");
    expect(live()).toBe(0);
    await expect(take(createHiddenStateQueue({ signal: controller.signal }))).rejects.toThrow("stopped by hand");
  });

  it("says when batches are numbered wrongly", async () => {
    const queue = createHiddenStateQueue({ capacity: 3, firstIndex: 4 });
    await put(queue, 6);
    const twice = packedBatch(ops, 6);
    await expect(queue.put(twice)).rejects.toThrow("batch 6 was put twice");
    twice.dispose();
    const early = packedBatch(ops, 3);
    await expect(queue.put(early)).rejects.toThrow("batch 3 was put twice");
    early.dispose();
    await put(queue, 4);
    queue.end();
    expect(await take(queue)).toBe(4);
    await expect(take(queue)).rejects.toThrow("batch 5 was never put into the queue, later ones were");
    expect(live()).toBe(0);
  });
});
