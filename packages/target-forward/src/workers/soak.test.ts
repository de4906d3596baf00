import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { expect, it } from "vitest";
import type { LinearTargetOptions } from "../linearTarget.test-support.ts";
import { createTargetForwardLoop } from "../loop/targetForwardLoop.ts";
import type { TokenBatch } from "../tokenBatch.ts";
import { startTargetWorkers } from "./startTargetWorkers.ts";

const records = 1000;
const MiB = 2 ** 20;
/**
 * What memory may grow by from the first thousand batches to the second. Hidden states that stayed would be 16 MiB here, and as
 * many in each place that they pass through. The system takes pages back when it likes to.
 */
const mostGrowth = { heapUsed: 8 * MiB, external: 8 * MiB, wasm: 4 * MiB, rss: 64 * MiB } as const;
const measures = ["heapUsed", "external", "wasm", "rss"] as const;
type Held = Record<(typeof measures)[number], number>;

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");
const crashing = [7, 500, 501, 1600];
const cancelled = [300, 1100];

/** Numbers from 0 to 1 that are the same in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

// Two epochs of one record a batch, of random lengths, from a source that now and then is slow.
async function* batches(first: number): AsyncGenerator<TokenBatch> {
  for (let index = first; index < 2 * records; index++) {
    const next = random(index + 1);
    const length = 1 + Math.floor(2000 * next());
    if (next() < 0.01) await sleep(5);
    yield {
      index,
      ids: new Int32Array(length).fill(index % 97),
      lossMask: new Uint8Array(length).fill(1),
      rowStarts: Int32Array.of(0, length),
      records: Int32Array.of(index % records),
    };
  }
}

it("2,000 batches come once each, in order and unspoilt, through slowness, crashes and cancellation, and nothing piles up", async () => {
  const folder = mkdtempSync(join(tmpdir(), "soak-"));
  const options: LinearTargetOptions = { crashes: { batches: crashing, file: join(folder, "crashed") } };
  const module = new URL("../linearTarget.test-support.ts", import.meta.url).href;
  const engine = await startEngine("wasm", { threads: 1 });
  const ops = createOps(engine);
  const workers = await startTargetWorkers({ count: 2, module, options, engine: { name: "wasm" } });
  let crashes = 0;
  workers.on("crash", () => crashes++);
  const trained = [new Uint8Array(records), new Uint8Array(records)];
  const tensors = new Set<number>();
  /** Most that was held, by thousand batches. */
  const most: Held[] = [];
  let next = 0;

  function weigh(): void {
    collect();
    const { heapUsed, external, rss } = process.memoryUsage();
    const heaps = [engine.memory(), ...workers.memory()].map(({ heapBytes }) => heapBytes ?? 0);
    // The largest, and not their sum: how soon a crashed worker's successor is there depends on how busy the machine is.
    const now: Held = { heapUsed, external, rss, wasm: Math.max(...heaps) };
    const thousand = (most[Math.floor((next - 1) / records)] ??= now);
    for (const measure of measures) thousand[measure] = Math.max(thousand[measure], now[measure]);
  }

  async function train(stopAt: number | undefined): Promise<void> {
    const controller = new AbortController();
    const loop = createTargetForwardLoop({
      source: workers,
      ops,
      batches: batches(next),
      layerIds: [0, 1],
      capacity: 4,
      minReady: 2,
      signal: controller.signal,
    });
    for await (const packed of loop) {
      expect(packed.index).toBe(next++);
      const id = packed.index % 97;
      const [a, b, c, d] = (await packed.features.read()).subarray(-4);
      expect([a, b, c, d].map((value) => value! + 0)).toEqual([id, 0 - id, 2 * id, 0 - 2 * id]);
      trained[Math.floor(packed.index / records)]![packed.records![0]!]!++;
      if (packed.index % 150 === 0) await sleep(10);
      packed.dispose();
      expect(engine.memory().tensors).toBe(0);
      for (const memory of workers.memory()) tensors.add(memory.tensors);
      // The first batches load code and find out how much memory they need.
      if (next > 300 && next % 50 === 0) weigh();
      if (next === stopAt) controller.abort(new Error("cancelled"));
    }
  }

  for (const stopAt of cancelled) await expect(train(stopAt)).rejects.toThrow("cancelled");
  await train(undefined);
  expect(next).toBe(2 * records);
  for (const epoch of trained) expect(epoch.every((times) => times === 1)).toBe(true);
  expect(crashes).toBe(crashing.length);
  // The weights, and while one batch is handed over what another holds.
  expect(Math.max(...tensors)).toBeLessThanOrEqual(4 + 4);
  const [first, second] = most;
  const grown = measures.filter((measure) => second![measure] - first![measure] >= mostGrowth[measure]);
  expect(grown).toEqual([]);
  await workers.close();
  engine.dispose();
  rmSync(folder, { recursive: true });
}, 240_000);
