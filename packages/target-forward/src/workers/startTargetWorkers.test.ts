import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineProblem, startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import { bfloat16ToFloat32, float32ToBfloat16 } from "@dflash/safetensors";
import { createTimer, type ReportSnapshot } from "@dflash/timer";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { LinearTargetOptions } from "../linearTarget.test-support.ts";
import { createTargetForwardLoop, type LoopOptions, type TargetForwardLoop } from "../loop/targetForwardLoop.ts";
import { tokenBatch } from "../packed.test-support.ts";
import type { TokenBatch } from "../tokenBatch.ts";
import { startTargetWorkers, type TargetWorkers, type TargetWorkersOptions } from "./startTargetWorkers.ts";
import { TargetWorkerError } from "./targetWorkerError.ts";

const module = new URL("../linearTarget.test-support.ts", import.meta.url).href;

const tensorflow = {
  name: "tensorflow",
  threads: 1,
  resolveFrom: `${import.meta.dirname}/../../../../apps/trainer`,
} as const;
const missing = await engineProblem("tensorflow", tensorflow);

async function* batchesFrom(first: number, count: number): AsyncGenerator<TokenBatch> {
  for (let i = 0; i < count; i++) yield tokenBatch(first + i, 1 + ((first + i) % 5));
}

async function start(
  options: LinearTargetOptions = {},
  more: Partial<TargetWorkersOptions> = {},
): Promise<TargetWorkers> {
  const workers = await startTargetWorkers({ count: 1, module, options, engine: { name: "cpu" }, ...more });
  onTestFinished(() => workers.close());
  return workers;
}

/** What is left of numbers in bfloat16. */
const rounded = (numbers: readonly number[]): Float32Array =>
  bfloat16ToFloat32(float32ToBfloat16(Float32Array.from(numbers)));

describe("target workers", () => {
  let ops: Ops;
  beforeAll(async () => {
    ops = createOps(await startEngine("cpu"));
  });
  afterAll(() => ops.engine.dispose());
  const live = (): number => ops.engine.memory().tensors;

  const loopOver = (
    source: TargetWorkers,
    batches: AsyncIterable<TokenBatch>,
    more: Partial<LoopOptions> = {},
  ): TargetForwardLoop => createTargetForwardLoop({ source, ops, batches, layerIds: [0, 2], capacity: 3, ...more });

  /** Takes every batch, checks what it holds and frees it. Gives the indices. */
  async function drain(loop: TargetForwardLoop): Promise<number[]> {
    const taken: number[] = [];
    for await (const packed of loop) {
      taken.push(packed.index);
      expect(packed).toMatchObject(tokenBatch(packed.index, 1 + (packed.index % 5)));
      const expected = Float32Array.from([...packed.ids].flatMap((id) => [id, 0 - id, 3 * id, 0 - 3 * id]));
      expect(await packed.features.read()).toEqual(expected);
      packed.dispose();
      expect(live()).toBe(0);
    }
    return taken;
  }

  it("keep the process alive until they are closed, whatever they still answer", () => {
    const program = join(import.meta.dirname, "closeAfterReply.test-support.ts");
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", program], { encoding: "utf8" });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "closed\n", stderr: "" });
  });

  it.runIf(process.platform !== "win32")(
    "in processes outlive Ctrl-C, which the consumer hears, and not the consumer",
    async () => {
      const program = join(import.meta.dirname, "interruptGroup.test-support.ts");
      const leading = { encoding: "utf8", detached: true } as const;
      const { stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", program], leading);
      const [before = 0, after] = JSON.parse(stdout || "[]") as number[];
      expect({ after, stderr }).toEqual({ after: before, stderr: "" });
      await vi.waitFor(() => expect(() => process.kill(before, 0)).toThrow("ESRCH"), 20_000);
    },
  );

  it.each([
    ["one thread", {}],
    ["three threads", { count: 3 }],
    ["a process", { placement: "process" }],
  ] as const)("deliver in order what an inline model would: %s", async (_, more) => {
    const workers = await start({}, more);
    expect(workers).toMatchObject({ layers: 3, hiddenSize: 2, engine: expect.stringContaining("cpu: ") });
    expect(await drain(loopOver(workers, batchesFrom(4, 9)))).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12]);
    // The same workers serve another loop.
    expect(await drain(loopOver(workers, batchesFrom(0, 2)))).toEqual([0, 1]);
    expect(workers.memory().every(({ tensors }) => tensors >= 4)).toBe(true);
  });

  it("run in a process for each device, which sees that one alone and takes its memory as it needs it", async () => {
    const shown = { module: new URL("../deviceTarget.test-support.ts", import.meta.url).href };
    const workers = await start({}, { ...shown, count: 2, placement: "process", devices: [3, 5] });
    const capture = { layerIds: [0], layout: "joined" } as const;
    const states = await Promise.all([0, 1, 2, 3].map((index) => workers.states(tokenBatch(index), capture)));
    const seen = states.map((computed) => [...computed!.features[0]!.values].slice(0, 3));
    const pids = [3, 5].map((device) => {
      const there = seen.filter(([where]) => where === device);
      expect(there.map(([, growth]) => growth)).toEqual([1, 1]);
      return [...new Set(there.map(([, , pid]) => pid))];
    });
    expect(pids.map(({ length }) => length)).toEqual([1, 1]);
    expect(pids[0]).not.toEqual(pids[1]);
  });

  it.skipIf(missing !== null)(
    `two processes on native TensorFlow deliver what an inline model would${missing === null ? "" : ` (skipped: ${missing})`}`,
    async () => {
      const workers = await start({}, { engine: tensorflow, count: 2, placement: "process", devices: [0, 1] });
      expect(workers.engine).toContain("tensorflow: native TensorFlow");
      expect(await drain(loopOver(workers, batchesFrom(0, 6)))).toEqual([0, 1, 2, 3, 4, 5]);
    },
  );

  it("hand over split features and the last layer's output, rounded to bfloat16 when asked to", async () => {
    const workers = await start({}, { wire: "bfloat16" });
    const batches = (async function* () {
      yield tokenBatch(85, 4);
    })();
    const options = { source: workers, ops, batches, layerIds: [0, 2], captureLast: true } as const;
    const loop = createTargetForwardLoop({ ...options, layout: "split" });
    const once = [85, 86, 87, 88].flatMap((id) => [id, -id]);
    const thrice = rounded(once.map((value) => 3 * value));
    // 3 · 87 = 261 has nine significant bits, one more than bfloat16 holds.
    expect(thrice[4]).not.toBe(261);
    for await (const split of loop) {
      const { features, last } = split;
      expect(features.map(({ shape }) => shape)).toEqual([
        [4, 2],
        [4, 2],
      ]);
      expect(await Promise.all(features.map((feature) => feature.read()))).toEqual([rounded(once), thrice]);
      expect(await last!.read()).toEqual(thrice);
      split.dispose();
    }
    expect(live()).toBe(0);
  });

  describe.each(["thread", "process"] as const)("with a %s each", (placement) => {
    const targets = ["target[0]", "target[1]"];
    const mostSteps = 95;
    it("show their lanes in the consumer's timer, their overlap and waits, and each closes with the step", async () => {
      const timer = createTimer({ lane: "drafter" });
      // The first report takes a while: it calibrates the timer.
      timer.step(() => undefined);
      const reports: ReportSnapshot[] = [];
      timer.on("report", (report) => reports.push(report.snapshot()));
      // A forward outlasts "fit", so that one worker alone can't keep up.
      const workers = await start({ delayMs: 30 }, { count: 2, placement, timer });
      const iterator = loopOver(workers, batchesFrom(0, mostSteps), { timer })[Symbol.asyncIterator]();
      onTestFinished(async () => void (await iterator.return!()));
      const fit = timer.section("fit");
      const sum = (of: (report: ReportSnapshot) => number): number =>
        reports.reduce((total, report) => total + of(report), 0);
      const overlapMs = (lane: string): number => sum(({ lanes }) => lanes[lane]?.overlapMs["drafter"] ?? 0);
      let taken = 0;
      // On a busy machine a worker may run between the consumer's turns only, so steps go on until both were seen beside it.
      for (let step = 0; step < mostSteps && (step < 8 || Math.min(...targets.map(overlapMs)) === 0); step++) {
        await timer.step(async () => {
          const packed = (await iterator.next()).value!;
          taken += 1 + (step % 5);
          packed.dispose();
          // This thread's event loop stands still, and what workers do meanwhile must count as beside it.
          fit.time(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20));
        });
      }
      const tokens = (name: string): number => sum(({ sections }) => sections[name]?.work?.tokens ?? 0);
      const [first, second] = [tokens("target/forward"), tokens("target/forward@target[1]")];
      // The workers are ahead by what the loop holds, and what one finishes between two steps is in neither.
      expect(first + second).toBeLessThanOrEqual(taken + 5 * 5);
      expect(Math.min(first, second)).toBeGreaterThan(0);
      expect(reports.slice(0, 8).map(({ sections }) => sections["queue/receive"]!.work!.bytes)).toEqual(
        [1, 2, 3, 4, 5, 1, 2, 3].map((rows) => rows * 4 * 4),
      );
      expect(Object.keys(reports[0]!.lanes)).toEqual(["drafter", "target[0]", "target[1]", "data"]);
      expect(reports[0]!.sections).toMatchObject({
        "target/idle": { lane: "target[0]", role: "wait", waitsFor: "drafter" },
        "target/pack": { lane: "target[0]", role: "packing" },
        "target/hand-over": { lane: "target[0]", role: "packing" },
        "queue/receive": { lane: "drafter", role: "packing", parent: "queue/wait" },
      });
      for (const name of targets) {
        expect(overlapMs(name)).toBeGreaterThan(0);
        expect(sum(({ lanes }) => lanes[name]!.waitMs)).toBeGreaterThan(0);
      }
      for (const { ms, lanes } of reports) {
        for (const { busyMs, waitMs, residualMs } of Object.values(lanes)) {
          expect(busyMs + waitMs + residualMs).toBeCloseTo(ms, 9);
          expect(Math.min(busyMs, waitMs, residualMs)).toBeGreaterThanOrEqual(0);
        }
      }
      expect(reports.every(({ unbalanced, dropped }) => unbalanced === 0 && dropped === 0)).toBe(true);
    });
  });

  it.each(["thread", "process"] as const)(
    "compute again what a crashed %s had, once each and in order",
    async (placement) => {
      const folder = mkdtempSync(join(tmpdir(), "crash-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const crashes = { batches: [2, 3, 9], file: join(folder, "crashed") };
      const workers = await start({ crashes }, { count: 2, placement });
      const crashed: { worker: number; reason: string; batches: number[] }[] = [];
      workers.on("crash", (crash) => crashed.push(crash));
      expect(await drain(loopOver(workers, batchesFrom(0, 12)))).toEqual(Array.from({ length: 12 }, (_, i) => i));
      expect(crashed.flatMap(({ batches }) => batches)).toEqual(expect.arrayContaining([2, 3, 9]));
      expect(crashed.map(({ reason }) => reason)).toEqual(Array(3).fill("exit code 3"));
    },
  );

  it("name a batch that ends one worker after another", async () => {
    const workers = await start({ crashes: { batches: [1] } });
    const loop = loopOver(workers, batchesFrom(0, 4));
    const failure = await drain(loop).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TargetWorkerError);
    expect(failure).toMatchObject({
      name: "TargetWorkerError",
      batch: 1,
      message: expect.stringMatching(
        /^target workers ended 3 times on batch 1 \(the last: exit code 3\); use fewer tokens/,
      ),
    });
  });

  it("end the loop with the model's own error", async () => {
    const workers = await start();
    const loop = loopOver(workers, batchesFrom(95, 9));
    const errors: unknown[] = [];
    loop.on("error", (error) => errors.push(error));
    await expect(drain(loop)).rejects.toThrow("embedding: ids[2] is 100, expected");
    expect(errors).toHaveLength(1);
    expect(live()).toBe(0);
  });

  it("say in one line why they don't start", async () => {
    const failures: [Partial<TargetWorkersOptions>, string][] = [
      [{ count: 0 }, "target workers: count is 0, expected a whole number above 0"],
      [{ options: { broken: "no such folder" } }, "no such folder"],
      [{ engine: { name: "wasm", threads: 0 } }, "wasm: threads is 0"],
      [{ module: "file:///nowhere.mjs" }, "Cannot find module"],
      [{ module: new URL("../packed.test-support.ts", import.meta.url).href }, "its default export is undefined"],
      [{ placement: "process", options: { broken: "no such folder" } }, "no such folder"],
    ];
    for (const [more, message] of failures) await expect(start({}, more)).rejects.toThrow(message);
  });

  it("go on when the consumer stops or aborts, and give up what is under way when they are closed", async () => {
    const workers = await start({ delayMs: 20 });
    for await (const packed of loopOver(workers, batchesFrom(0, 9))) {
      packed.dispose();
      break;
    }
    const controller = new AbortController();
    const aborted = drain(loopOver(workers, batchesFrom(0, 9), { signal: controller.signal }));
    setTimeout(() => controller.abort(new Error("stopped by hand")), 30);
    await expect(aborted).rejects.toThrow("stopped by hand");
    expect(await drain(loopOver(workers, batchesFrom(0, 2)))).toEqual([0, 1]);

    setTimeout(() => void workers.close(), 30);
    await expect(drain(loopOver(workers, batchesFrom(0, 9)))).rejects.toThrow("the target workers are closed");
    await expect(workers.states(tokenBatch(0), { layerIds: [0], layout: "joined" })).rejects.toThrow("are closed");
    expect(live()).toBe(0);
  });
});
