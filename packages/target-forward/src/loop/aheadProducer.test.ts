import { startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HiddenStateSource } from "../hostHiddenStates.ts";
import { tokenBatch } from "../packed.test-support.ts";
import type { CaptureOptions } from "../targetModel.ts";
import type { TokenBatch } from "../tokenBatch.ts";
import { createTargetForwardLoop } from "./targetForwardLoop.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function* batchesFrom(first: number, count: number): AsyncGenerator<TokenBatch> {
  for (let i = 0; i < count; i++) yield tokenBatch(first + i, 1 + (i % 3));
}

/** A source whose feature of a token is its id, after so many turns of the event loop; it has nothing of some batches. */
function source(turns: (index: number) => number, missing: (index: number) => boolean = () => false) {
  const asked: [number, CaptureOptions][] = [];
  let underWay = 0;
  let most = 0;
  const states: HiddenStateSource["states"] = async (batch, options) => {
    asked.push([batch.index, options]);
    most = Math.max(most, ++underWay);
    for (let left = turns(batch.index); left > 0; left--) await turn();
    underWay--;
    if (missing(batch.index)) return null;
    return { batch, features: [{ values: Float32Array.from(batch.ids), width: 1 }], last: null };
  };
  return { states, asked, most: () => most };
}

async function* skipping(): AsyncGenerator<TokenBatch> {
  yield tokenBatch(4);
  yield tokenBatch(6);
}

// Batches that take some turns of the event loop each.
async function* slowly(): AsyncGenerator<TokenBatch> {
  for await (const batch of batchesFrom(0, 9)) {
    for (let turns = 0; turns < 3; turns++) await turn();
    yield batch;
  }
}

describe("a loop whose hidden states come from elsewhere", () => {
  let ops: Ops;
  beforeAll(async () => {
    ops = createOps(await startEngine("cpu"));
  });
  afterAll(() => ops.engine.dispose());

  it("asks ahead within the capacity, delivers in order, and passes over what the source has not", () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({
          first: fc.nat(3),
          count: fc.nat(20),
          capacity: fc.integer({ min: 1, max: 4 }),
          minReady: fc.integer({ min: 1, max: 4 }),
          turns: fc.array(fc.nat(4), { minLength: 24, maxLength: 24 }),
          missing: fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }),
          pauses: fc.array(fc.nat(3), { minLength: 24, maxLength: 24 }),
        }),
        async ({ first, count, capacity, minReady, turns, missing, pauses }) => {
          const from = source(
            (index) => turns[index]!,
            (index) => missing[index]!,
          );
          const queue = { capacity, minReady: Math.min(minReady, capacity) };
          const batches = batchesFrom(first, count);
          const loop = createTargetForwardLoop({ source: from, ops, batches, layerIds: [3], ...queue });
          const taken: number[] = [];
          for await (const packed of loop) {
            taken.push(packed.index);
            expect(await packed.features.read()).toEqual(Float32Array.from(packed.ids));
            for (let left = pauses[packed.index]!; left > 0; left--) await turn();
            expect(ops.engine.memory().tensors).toBe(1);
            packed.dispose();
          }
          const all = Array.from({ length: count }, (_, i) => first + i);
          expect(taken).toEqual(all.filter((index) => !missing[index]));
          expect(from.asked.map(([index]) => index)).toEqual(all);
          expect(from.most()).toBeLessThanOrEqual(capacity);
          expect(ops.engine.memory().tensors).toBe(0);
        },
      ),
      { numRuns: 100 },
    ));

  it("computes while the consumer is at work", async () => {
    const from = source(() => 1);
    const batches = batchesFrom(0, 9);
    const loop = createTargetForwardLoop({ source: from, ops, batches, layerIds: [0], capacity: 4 });
    const iterator = loop[Symbol.asyncIterator]();
    const next = async (): Promise<void> => (await iterator.next()).value?.dispose();
    await next();
    for (let turns = 0; turns < 10; turns++) await turn();
    expect(from.asked.map(([index]) => index)).toEqual([0, 1, 2, 3, 4]);
    expect(from.asked[0]![1]).toEqual({ layerIds: [0], captureLast: false, layout: "joined" });
    expect(loop.queue.depth).toBe(4);
    await next();
    expect(loop.queue.waits).toEqual({ put: 0, take: 1 });
    await iterator.return?.();
  });

  it("has asked for all that there is room for when a consumer goes to work that keeps the event loop from turning", async () => {
    const from = source(() => 1);
    const loop = createTargetForwardLoop({ source: from, ops, batches: slowly(), layerIds: [0], capacity: 3 });
    const ahead: number[] = [];
    const starved: number[] = [];
    loop.on("starved", () => starved.push(ahead.length));
    for await (const packed of loop) {
      ahead.push(from.asked.length - 1 - packed.index);
      const start = performance.now();
      while (performance.now() - start < 100);
      packed.dispose();
    }
    // Of the last batches there are no more to ask for.
    expect(ahead.slice(1)).toEqual([3, 3, 3, 3, 3, 2, 1, 0]);
    // What came meanwhile is let in before the consumer is said to starve.
    expect(starved.filter((taken) => taken > 1)).toEqual([]);
  });

  it("keeps a consumer that has its batch no tenth of its work longer for a slow source of batches", async () => {
    const waiting = new AbortController();
    async function* stopping(): AsyncGenerator<TokenBatch> {
      yield* batchesFrom(0, 2);
      await new Promise((_, reject) => waiting.signal.addEventListener("abort", () => reject(waiting.signal.reason)));
    }
    const loop = createTargetForwardLoop({ source: source(() => 0), ops, batches: stopping(), layerIds: [0] });
    const iterator = loop[Symbol.asyncIterator]();
    for (let taken = 0; taken < 2; taken++) (await iterator.next()).value?.dispose();
    const third = iterator.next();
    waiting.abort(new Error("no third batch"));
    await expect(third).rejects.toThrow("no third batch");
  });

  it("counts token numbers that were new, as each makes new shapes", async () => {
    const batches = batchesFrom(0, 7);
    const loop = createTargetForwardLoop({ source: source(() => 0), ops, batches, layerIds: [0] });
    const shapes: number[] = [];
    loop.on("batch", (batch) => shapes.push(batch.shapes));
    for await (const packed of loop) packed.dispose();
    expect(shapes).toEqual([1, 2, 3, 3, 3, 3, 3]);
  });

  it("ends with the first error only, and closes the source of batches", async () => {
    const failing: HiddenStateSource = {
      async states({ index }) {
        await turn();
        throw new Error(`batch ${index} has no file`);
      },
    };
    const loop = createTargetForwardLoop({
      source: failing,
      ops,
      batches: batchesFrom(0, 9),
      layerIds: [0],
      capacity: 3,
    });
    const heard: string[] = [];
    loop.on("error", (error) => heard.push(String(error)));
    loop.on("end", () => heard.push("end"));
    await expect(loop[Symbol.asyncIterator]().next()).rejects.toThrow("batch 0 has no file");
    await turn();
    expect(heard).toEqual(["Error: batch 0 has no file", "end"]);
  });

  it("ends with the error of a source of batches that fails or skips a number", async () => {
    const loop = createTargetForwardLoop({ source: source(() => 9), ops, batches: skipping(), layerIds: [0] });
    await expect(loop[Symbol.asyncIterator]().next()).rejects.toThrow("batch 6 came where batch 5 was expected");
  });
});
