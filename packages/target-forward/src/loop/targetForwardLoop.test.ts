import { startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import { createTimer, type ReportSnapshot } from "@dflash/timer";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import linearTarget from "../linearTarget.test-support.ts";
import { tokenBatch } from "../packed.test-support.ts";
import {
  createTargetForwardLoop,
  type TargetForwardEvents,
  type LoopOptions,
  type TargetForwardLoop,
} from "./targetForwardLoop.ts";
import type { TargetModel } from "../targetModel.ts";
import type { TokenBatch } from "../tokenBatch.ts";

async function* source(
  batches: readonly TokenBatch[],
  end = async (): Promise<void> => {},
): AsyncGenerator<TokenBatch> {
  yield* batches;
  await end();
}

const batchesFrom = (first: number, count: number): AsyncGenerator<TokenBatch> =>
  source(Array.from({ length: count }, (_, i) => tokenBatch(first + i)));

/** Every event of a loop, in order. */
function record(loop: TargetForwardLoop): [string, unknown][] {
  const heard: [string, unknown][] = [];
  const names: (keyof TargetForwardEvents)[] = ["batch", "starved", "drained", "error", "end"];
  for (const name of names) loop.on(name, (payload) => heard.push([name, payload]));
  return heard;
}

describe("the target-forward loop", () => {
  let ops: Ops;
  let model: TargetModel;
  beforeAll(async () => {
    ops = createOps(await startEngine("cpu"));
    model = linearTarget({}, { ops });
  });
  afterAll(() => ops.engine.dispose());

  /** Live tensors but the model's four. */
  const live = (): number => ops.engine.memory().tensors - 4;
  const loopOver = (
    batches: AsyncIterable<TokenBatch>,
    options: Partial<LoopOptions & { model: TargetModel }> = {},
  ): TargetForwardLoop => createTargetForwardLoop({ model, ops, batches, layerIds: [0, 2], ...options });

  it("delivers each batch with the features of the captured layers, and the last one when asked for", async () => {
    const seen: number[] = [];
    for await (const packed of loopOver(batchesFrom(5, 3), { captureLast: true })) {
      seen.push(packed.index);
      expect(packed.ids).toEqual(tokenBatch(packed.index).ids);
      expect(await packed.features.read()).toEqual(
        Float32Array.from([...packed.ids].flatMap((id) => [id, -id, 3 * id, -3 * id])),
      );
      expect(await packed.last!.read()).toEqual(Float32Array.from([...packed.ids].flatMap((id) => [3 * id, -3 * id])));
      packed.dispose();
      expect(live()).toBe(0);
    }
    expect(seen).toEqual([5, 6, 7]);
  });

  it("computes no batch before it is asked for, and no more than minReady demands", async () => {
    const loop = loopOver(batchesFrom(0, 5), { capacity: 4, minReady: 3 });
    const heard = record(loop);
    const iterator = loop[Symbol.asyncIterator]();
    expect(heard).toEqual([]);
    const depths: number[] = [];
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      next.value.dispose();
      depths.push(loop.queue.depth);
      expect(live()).toBe(loop.queue.depth);
    }
    expect(depths).toEqual([2, 2, 2, 1, 0]);
    expect(loop.queue.waits).toEqual({ put: 0, take: 4 });
    expect(heard.map(([name]) => name).join(" ")).toBe(
      "starved batch batch batch starved batch starved batch starved drained end",
    );
  });

  it("says in events what it did", async () => {
    const loop = loopOver(batchesFrom(8, 1));
    const heard = record(loop);
    for await (const packed of loop) packed.dispose();
    expect(heard).toEqual([
      ["starved", { depth: 0, minReady: 1 }],
      ["batch", { index: 8, rows: 1, tokens: 4, bytes: 4 * 4 * 4, shapes: 1, depth: 0 }],
      ["starved", { depth: 0, minReady: 1 }],
      ["drained", { batches: 1, tokens: 4 }],
      ["end", { batches: 1, tokens: 4 }],
    ]);
  });

  it("goes on when a listener throws", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const loop = loopOver(batchesFrom(0, 3));
    loop.on("batch", () => {
      throw new Error("listener is broken");
    });
    let batches = 0;
    for await (const packed of loop) {
      packed.dispose();
      batches++;
    }
    expect(batches).toBe(3);
    expect(error).toHaveBeenCalledOnce();
    error.mockRestore();
  });

  it("closes the source and frees what is left when the consumer stops", async () => {
    const batches = batchesFrom(0, 9);
    const closing = vi.spyOn(batches, "return");
    const loop = loopOver(batches, { minReady: 2 });
    const heard = record(loop);
    for await (const packed of loop) {
      packed.dispose();
      expect(live()).toBe(1);
      break;
    }
    expect(live()).toBe(0);
    expect(closing).toHaveBeenCalledOnce();
    expect(heard.at(-1)).toEqual(["end", { batches: 2, tokens: 8 }]);
  });

  it("rejects, after the event, with what the source, the model or the numbering failed with", async () => {
    const broken = source([tokenBatch(0)], () => Promise.reject(new Error("line 7 is not JSON")));
    const failures: [TargetForwardLoop, string][] = [
      [loopOver(broken), "line 7 is not JSON"],
      [loopOver(source([tokenBatch(0), tokenBatch(2)])), "batches: batch 2 came where batch 1 was expected"],
      [loopOver(batchesFrom(97, 2)), "embedding: ids[3]"],
    ];
    for (const [loop, message] of failures) {
      const heard = record(loop);
      const taken: number[] = [];
      const consume = async (): Promise<void> => {
        for await (const packed of loop) {
          taken.push(packed.index);
          packed.dispose();
        }
      };
      await expect(consume()).rejects.toThrow(message);
      expect(heard.slice(-2)).toEqual([
        ["error", expect.objectContaining({ message: expect.stringContaining(message) })],
        ["end", { batches: taken.length, tokens: 4 * taken.length }],
      ]);
      expect(live()).toBe(0);
    }
  });

  it("stops at once when its signal aborts while the source is slow", async () => {
    const stuck = source([tokenBatch(0)], () => new Promise(() => undefined));
    const controller = new AbortController();
    const loop = loopOver(stuck, { minReady: 2, signal: controller.signal });
    const heard = record(loop);
    const taking = loop[Symbol.asyncIterator]().next();
    setImmediate(() => controller.abort(new Error("stopped by hand")));
    await expect(taking).rejects.toThrow("stopped by hand");
    expect(live()).toBe(0);
    expect(heard.map(([name]) => name)).toEqual(["starved", "batch", "end"]);
  });

  it("lets a forward that runs finish, and frees its result, when its signal aborts", async () => {
    const controller = new AbortController();
    const slow: TargetModel = {
      ...model,
      async forward(batch, options) {
        const captured = await model.forward(batch, options);
        controller.abort(new Error("stopped by hand"));
        await new Promise((resolve) => setImmediate(resolve));
        return captured;
      },
    };
    const loop = loopOver(batchesFrom(0, 3), { model: slow, signal: controller.signal });
    await expect(loop[Symbol.asyncIterator]().next()).rejects.toThrow("stopped by hand");
    expect(live()).toBe(0);
  });

  it("times the target inside the consumer's wait, and the step closes exactly", async () => {
    let now = 0n;
    const reports: ReportSnapshot[] = [];
    const timer = createTimer({ lane: "drafter", clock: () => (now += 1_000n) });
    timer.on("report", (report) => reports.push(report.snapshot()));
    const train = timer.section("train");
    const iterator = loopOver(batchesFrom(0, 2), { timer })[Symbol.asyncIterator]();
    for (let step = 0; step < 2; step++) {
      await timer.step(async () => {
        const { value } = await iterator.next();
        train.time(() => value?.dispose());
      });
    }
    expect(reports).toHaveLength(2);
    for (const { sections, unbalanced, ms, residualMs, lanes } of reports) {
      expect(unbalanced).toBe(0);
      expect(sections).toMatchObject({
        data: { count: 1, parent: "queue/wait", lane: "data", role: "data" },
        "target/forward": { count: 1, parent: "queue/wait", lane: "target", work: { tokens: 4 } },
        "target/pack": { count: 1, parent: "queue/wait", lane: "target", role: "packing", work: { bytes: 4 * 4 * 4 } },
        "queue/full": { count: 1, parent: "queue/wait", lane: "target", role: "wait", waitsFor: "drafter" },
        "queue/wait": { count: 1, parent: null, lane: "drafter", role: "wait", waitsFor: "target" },
        train: { count: 1, parent: null },
      });
      const selfMs = Object.values(sections).reduce((sum, section) => sum + (section.selfMs ?? 0), 0);
      expect(selfMs + residualMs).toBeCloseTo(ms, 9);
      expect(lanes["drafter"]!.busyMs + lanes["drafter"]!.waitMs + lanes["drafter"]!.residualMs).toBeCloseTo(ms, 9);
    }
  });
});
