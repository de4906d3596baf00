import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { Session } from "node:inspector/promises";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { Engine } from "./engine.ts";
import { engineProblem } from "./engineProblem.ts";
import { startEngine, type StartEngineOptions } from "./startEngine.ts";
import type { DeviceValues, TensorflowOps } from "./tensorflowOps.ts";

// Read when the library loads, which is once a process; each test file has one of its own.
process.env["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = "256";
const resolveFrom = `${import.meta.dirname}/../../../apps/trainer`;
const missing = await engineProblem("tensorflow", { threads: 1, resolveFrom });

let engine: Engine | null = null;
const start = async (options: StartEngineOptions = {}): Promise<Engine> =>
  (engine = await startEngine("tensorflow", { resolveFrom, ...options }));
afterEach(() => {
  engine?.dispose();
  engine = null;
});

const floats = (ops: TensorflowOps, values: number[], ...shape: number[]): DeviceValues =>
  ops.upload(Float32Array.from(values), shape);

describe.skipIf(missing !== null)(`native TensorFlow${missing === null ? "" : ` (skipped: ${missing})`}`, () => {
  test("runs TensorFlow's ops past tfjs, and counts them and what they leave", async () => {
    const { tensorflowOps: ops, counters, memory } = await start();
    expect.assert(ops !== null);
    const [a, b] = [floats(ops, [1, 2, 3, 4], 2, 2), floats(ops, [5, 6, 7, 8], 2, 2)];
    const before = { ...counters };
    const [product] = ops.run("MatMul", [a, b], { transpose_b: true });
    expect(product?.shape).toEqual([2, 2]);
    expect(counters.kernels - before.kernels).toBe(1);
    expect(memory().tensors).toBe(3);
    const kept = ops.keep(product!);
    expect(kept).toMatchObject({ shape: [2, 2], dtype: "float32" });
    expect(ops.values(kept)).toMatchObject({ id: product!.id, shape: [2, 2] });
    for (const values of [a, b]) ops.free(values);
    expect(memory().tensors).toBe(0);
    expect(counters.newBytes - before.newBytes).toBe(32);
  });

  test("oneDNN multiplies on any CPU, and nothing is said about it", () => {
    const program = `
      const { startEngine } = await import(${JSON.stringify(`${import.meta.dirname}/startEngine.ts`)});
      await startEngine("tensorflow", { resolveFrom: ${JSON.stringify(resolveFrom)} });
      console.log(process.env.TF_ENABLE_ONEDNN_OPTS);
    `;
    const { TF_ENABLE_ONEDNN_OPTS: _, ...env } = process.env;
    const started = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], { env });
    expect(started.stderr.toString()).toBe("");
    expect(started.stdout.toString()).toBe("1\n");
  });

  test("makes a constant once", async () => {
    const { tensorflowOps: ops } = await start();
    expect(ops!.constant(2, "int32").id).toBe(ops!.constant(2, "int32").id);
    expect(ops!.constant([2], "int32").id).not.toBe(ops!.constant(2, "int32").id);
    expect(ops!.constant(2, "float32").id).not.toBe(ops!.constant(2, "int32").id);
    expect(engine!.memory().tensors).toBe(0);
  });

  test("keeps the constants asked for last, and all of them as long as a kernel runs", async () => {
    const { tensorflowOps: ops } = await start();
    const ask = (from: number, to: number): void => {
      for (let i = from; i < to; i++) ops!.constant([i, i], "int32");
    };
    const input = floats(ops!, [1, 2], 2);
    const two = ops!.constant(2, "float32");
    ask(0, 5000);
    const [doubled] = ops!.run("Mul", [input, two]);
    for (const values of [input, doubled!]) ops!.free(values);
    ask(5000, 10_000);
    const recent = ops!.constant([9999, 9999], "int32");
    ask(0, 10);
    expect(ops!.constant([9999, 9999], "int32").id).toBe(recent.id);
    expect(() => ops!.run("Identity", [two])).toThrow("Input Tensor ID");
    expect(ops!.constant(2, "float32").id).not.toBe(two.id);
    expect(engine!.memory().tensors).toBe(0);
  });

  test("out of memory is one line that says what to lower, and computing goes on after it", async () => {
    const { tensorflowOps: ops, memory } = await start();
    expect.assert(ops !== null);
    const row = floats(ops, Array.from({ length: 1024 }, Math.sin), 1024, 1);
    const fill = (): DeviceValues[] => {
      const filled: DeviceValues[] = [];
      try {
        for (;;) filled.push(...ops.run("MatMul", [row, row], { transpose_b: true }));
      } finally {
        filled.forEach(ops.free);
      }
    };
    expect(fill).toThrow(
      "tensorflow: out of memory: MatMul finds no room for a tensor of shape [1024, 1024]; use fewer tokens a batch or a smaller model",
    );
    const [again] = ops.run("MatMul", [row, row], { transpose_b: true });
    expect(again?.shape).toEqual([1024, 1024]);
    for (const values of [row, again!]) ops.free(values);
    expect(memory().tensors).toBe(0);
  });

  test("products under way bear signals and a CPU profile", async () => {
    const { tensorflowOps: ops } = await start();
    expect.assert(ops !== null);
    const [x, w] = [
      floats(ops, Array<number>(512 * 256).fill(1), 512, 256),
      ops.upload(new Float32Array(256 * 768), [256, 768]),
    ];
    const heard: string[] = [];
    const hear = (signal: string): void => void heard.push(signal);
    process.on("SIGUSR2", hear);
    const sender = spawn("sh", ["-c", `while kill -USR2 ${process.pid}; do sleep 0.001; done`]);
    const profiler = new Session();
    profiler.connect();
    await profiler.post("Profiler.enable");
    await profiler.post("Profiler.setSamplingInterval", { interval: 100 });
    await profiler.post("Profiler.start");
    try {
      // Each of them used to be able to write over the heap.
      for (let i = 0; i < 100 || heard.length < 20; i++) {
        ops.free(ops.run("MatMul", [x, w])[0]!);
        if (i % 10 === 0) await setImmediate();
      }
    } finally {
      sender.kill();
      await once(sender, "exit");
      process.off("SIGUSR2", hear);
    }
    const { profile } = await profiler.post("Profiler.stop");
    profiler.disconnect();
    expect(profile.samples?.length).toBeGreaterThan(10);
    for (const values of [x, w]) ops.free(values);
    expect(engine!.memory().tensors).toBe(0);
  });

  test("threads and precision hold for the process, and a later wish is answered in the description", async () => {
    expect(await start({ threads: 1 })).toMatchObject({
      threads: 1,
      description: "tensorflow: native TensorFlow, 1 CPU thread",
    });
    engine?.dispose();
    const { threads, description } = await start({ threads: 2, matmulPrecision: "bf16" });
    expect(threads).toBe(1);
    expect(description).toBe(
      "tensorflow: native TensorFlow, 1 CPU thread, as it was first started in this process, which can't be changed",
    );
  });
});
