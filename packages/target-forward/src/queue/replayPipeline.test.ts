import { startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HiddenStateSource } from "../hostHiddenStates.ts";
import { createTargetForwardLoop, type LoopOptions } from "../loop/targetForwardLoop.ts";
import { tokenBatch } from "../packed.test-support.ts";
import type { TargetModel } from "../targetModel.ts";
import type { TokenBatch } from "../tokenBatch.ts";
import type { QueuePolicy } from "./queuePolicy.ts";
import { replayPipeline, type BatchTimes, type PipelineSettings } from "./replayPipeline.ts";

/** A clock that stands still until everything that runs has come to wait for it. */
function virtualClock() {
  const sleepers: { at: number; wake: () => void }[] = [];
  let now = 0;
  return {
    now: () => now,
    sleep: (ms: number) => new Promise<void>((wake) => sleepers.push({ at: now + ms, wake })),
    async run(work: Promise<unknown>): Promise<void> {
      let over = false;
      void work.finally(() => (over = true));
      for (;;) {
        for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
        if (over) return;
        const next = sleepers.toSorted((a, b) => a.at - b.at)[0]!;
        sleepers.splice(sleepers.indexOf(next), 1);
        now = next.at;
        next.wake();
      }
    },
  };
}

const many = (settings: Partial<PipelineSettings>): PipelineSettings => ({
  workers: 1,
  cores: Infinity,
  targetCores: 1,
  drafterCores: 1,
  ...settings,
});

/** The real loop over batches that take these times, by a virtual clock. */
async function realLoop(ops: Ops, times: readonly BatchTimes[], workers: number, policy: QueuePolicy): Promise<number> {
  const clock = virtualClock();
  async function* batches(): AsyncGenerator<TokenBatch> {
    for (const [index, { dataMs }] of times.entries()) {
      await clock.sleep(dataMs);
      yield tokenBatch(index, 1);
    }
  }
  const lines = Array.from({ length: workers }, () => ({ jobs: 0, last: Promise.resolve() }));
  const source: HiddenStateSource = {
    async states(batch) {
      const line = lines.toSorted((a, b) => a.jobs - b.jobs)[0]!;
      line.jobs++;
      line.last = line.last.then(() => clock.sleep(times[batch.index]!.targetMs));
      await line.last;
      line.jobs--;
      return { batch, features: [{ values: new Float32Array(1), width: 1 }], last: null };
    },
  };
  const model: TargetModel = {
    layers: 1,
    hiddenSize: 1,
    async forward({ index }) {
      await clock.sleep(times[index]!.targetMs);
      return { features: [ops.zeros([1, 1])], last: null };
    },
    dispose: () => undefined,
  };
  const options: LoopOptions = { ops, batches: batches(), layerIds: [0], ...policy };
  const loop = createTargetForwardLoop(workers === 0 ? { ...options, model } : { ...options, source });
  const consume = async (): Promise<void> => {
    for await (const packed of loop) {
      await clock.sleep(times[packed.index]!.drafterMs);
      packed.dispose();
    }
  };
  await clock.run(consume());
  return clock.now();
}

describe("the replay of a pipeline", () => {
  let ops: Ops;
  beforeAll(async () => {
    ops = createOps(await startEngine("cpu"));
  });
  afterAll(() => ops.engine.dispose());

  it("takes as long as the real loop does, whatever the times, the workers and the queue", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ dataMs: fc.nat(20), targetMs: fc.nat(100), drafterMs: fc.nat(100) }), { maxLength: 12 }),
        fc.nat(3),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 4 }),
        async (stages, workers, capacity, minReady) => {
          // Times that never meet: at the same instant either could come first.
          const times = stages.map(({ dataMs, targetMs, drafterMs }, i) => ({
            dataMs: dataMs + 0.1 + i / 1013,
            targetMs: targetMs + 0.1 + i / 1019,
            drafterMs: drafterMs + 0.1 + i / 1021,
            tokens: 1,
          }));
          const policy = { capacity, minReady: Math.min(minReady, capacity) };
          const predicted = replayPipeline(times, many({ workers, ...policy })).ms;
          expect(predicted).toBeCloseTo(await realLoop(ops, times, workers, policy), 6);
        },
      ),
      { numRuns: 100 },
    ));

  const batch: BatchTimes = { dataMs: 0, targetMs: 60, drafterMs: 100, tokens: 50 };
  const batches = (count: number, change: Partial<BatchTimes> = {}): BatchTimes[] =>
    Array.from({ length: count }, () => ({ ...batch, ...change }));

  it("overlaps the lanes with a worker, as far as the machine has cores", () => {
    const inline = replayPipeline(batches(10), many({ workers: 0 }));
    expect(inline).toEqual({
      ms: 1600,
      tokensPerSecond: 500 / 1.6,
      waits: { target: 600, data: 0, queue: 0 },
      bottleneck: "drafter",
    });
    const beside = replayPipeline(batches(10), many({ workers: 1 }));
    expect(beside).toMatchObject({ ms: 60 + 10 * 100, waits: { target: 60, data: 0, queue: 0 } });
    // On one core the two lanes take as much time as one after the other.
    expect(replayPipeline(batches(10), many({ workers: 1, cores: 1 })).ms).toBeCloseTo(1600, 9);
    expect(replayPipeline(batches(10), many({ workers: 1, cores: 2, targetCores: 2, drafterCores: 2 })).ms).toBeCloseTo(
      1600,
      9,
    );
  });

  it("says what the consumer would wait for", () => {
    const slowTarget = batches(10, { targetMs: 300 });
    const one = replayPipeline(slowTarget, many({ workers: 1, capacity: 4 }));
    expect(one).toMatchObject({ ms: 3100, bottleneck: "target" });
    expect(replayPipeline(slowTarget, many({ workers: 3, capacity: 4 }))).toMatchObject({ bottleneck: "drafter" });
    expect(replayPipeline(batches(10, { dataMs: 400 }), many({ workers: 1 }))).toMatchObject({ bottleneck: "data" });
    const held = replayPipeline(batches(4, { targetMs: 200 }), many({ workers: 1, capacity: 4, minReady: 4 }));
    expect(held).toMatchObject({ waits: { target: 200, data: 0, queue: 600 }, bottleneck: "queue" });
  });

  it("has no batches, or refuses a queue that can't work", () => {
    expect(replayPipeline([], many({}))).toMatchObject({ ms: 0, tokensPerSecond: 0 });
    expect(() => replayPipeline([], many({ capacity: 2, minReady: 3 }))).toThrow("queue minReady is 3");
  });

  it("refuses times that it would never come to the end of", () => {
    for (const drafterMs of [NaN, Infinity])
      expect(() => replayPipeline(batches(2, { drafterMs }), many({}))).toThrow(`batch 0 takes ${drafterMs} ms`);
  });
});
