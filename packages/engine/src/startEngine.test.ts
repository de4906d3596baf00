import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BackendWasm } from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";
import { afterEach, expect, test, vi } from "vitest";
import type { Engine, EngineName } from "./engine.ts";
import { engineNames, startEngine } from "./startEngine.ts";

let engine: Engine | null = null;
const start = async (...args: Parameters<typeof startEngine>): Promise<Engine> => (engine = await startEngine(...args));
afterEach(() => {
  engine?.dispose();
  engine = null;
});

/** Whether the engine starts on this machine, on more than a GPU in software, which `auto` refuses. */
const works = (name: EngineName): Promise<boolean> =>
  startEngine(name, { threads: 1 }).then(
    (started) => {
      started.dispose();
      return !started.emulated;
    },
    () => false,
  );

const product = () => tf.tidy(() => tf.matMul(tf.tensor2d([1, 2, 3, 4], [2, 2]), tf.tensor2d([5, 6, 7, 8], [2, 2])));

test.each(["cpu", "wasm"] as const)(
  "%s computes, starts again after dispose, and begins with empty books",
  async (name) => {
    for (let round = 0; round < 2; round++) {
      const { counters, memory, sync, ...started } = await start(name, { threads: 1 });
      expect(started.name).toBe(name);
      expect(started.threads).toBe(1);
      expect(started.description).toMatch(new RegExp(`^${name}: [^\\n]+$`, "u"));
      expect({ ...counters }).toEqual({ kernels: 0, newBytes: 0, tensors: 0, newShapes: 0, syncMs: 0 });
      expect(memory()).toMatchObject({ tensors: 0, bytes: 0 });
      const y = product();
      await sync();
      expect(await y.data()).toEqual(Float32Array.of(19, 22, 43, 50));
      expect({ ...counters }).toMatchObject({ kernels: 1, newBytes: 3 * 16, tensors: 1, newShapes: 1 });
      expect(memory()).toMatchObject({ tensors: 1, bytes: 16 });
      started.dispose();
      started.dispose();
    }
  },
);

test.each(["cpu", "wasm"] as const)("%s counts memory that several tensors share once", async (name) => {
  const { memory, counters } = await start(name, { threads: 1 });
  const y = product();
  const flat = tf.reshape(y, [4]);
  expect(memory()).toMatchObject({ tensors: 2, bytes: 16 });
  expect(counters.newBytes).toBe(3 * 16);
  y.dispose();
  expect(memory()).toMatchObject({ tensors: 1, bytes: 16 });
  flat.dispose();
  expect(memory()).toMatchObject({ tensors: 0, bytes: 0 });
});

test("only wasm has a heap", async () => {
  expect((await start("cpu")).memory().heapBytes).toBeNull();
  engine?.dispose();
  expect((await start("wasm", { threads: 1 })).memory().heapBytes).toBeGreaterThan(2 ** 20);
});

test("an unknown name is answered with the names there are", async () => {
  // @ts-expect-error: names come from command lines too
  await expect(startEngine("cuda")).rejects.toThrow(
    'unknown engine "cuda"; engines are auto, tensorflow-gpu, tensorflow, webgpu, wasm, cpu',
  );
});

test.each(["wasm", "cpu", "webgpu"] as const)("%s has no bf16 products, which is said", async (name) => {
  await expect(startEngine(name, { matmulPrecision: "bf16" })).rejects.toThrow(
    `${name}: its products are of float32; bf16 takes the tensorflow engine`,
  );
});

test("a thread runs one engine at a time", async () => {
  await start("cpu");
  await expect(startEngine("wasm")).rejects.toThrow("the cpu engine runs in this thread already; dispose it first");
  engine?.dispose();
  await expect(start("wasm", { threads: 1 })).resolves.toMatchObject({ name: "wasm" });
});

test("two wasm threads compute, and one where a shared memory can't be had, which the description says", async () => {
  const globals = Object.keys(globalThis);
  const two = await start("wasm", { threads: 2 });
  expect(two).toMatchObject({ threads: 2, description: "wasm: WebAssembly SIMD, 2 threads" });
  expect(await product().data()).toEqual(Float32Array.of(19, 22, 43, 50));
  expect(Object.keys(globalThis)).toEqual(globals);
  two.dispose();

  // The threaded build can't be loaded without Blob.
  vi.stubGlobal("Blob", undefined);
  const one = await start("wasm", { threads: 2 });
  vi.unstubAllGlobals();
  expect(one.threads).toBe(1);
  expect(one.description).toMatch(/^wasm: WebAssembly SIMD, 1 thread \(2 were wanted: [^\n]*Blob[^\n]*\)$/u);
  expect(await product().data()).toEqual(Float32Array.of(19, 22, 43, 50));
});

test("threads may depend on the engine that is tried", async () => {
  const asked: EngineName[] = [];
  const threads = (name: EngineName): number => {
    asked.push(name);
    return 1;
  };
  const { name } = await start("auto", { threads });
  expect(asked).toEqual(engineNames.slice(0, engineNames.indexOf(name) + 1));
  engine?.dispose();
  expect((await start("wasm", { threads: (tried) => (tried === "wasm" ? 2 : 1) })).threads).toBe(2);
});

test.each([0, 1.5, -1])("%d threads are refused by every engine", async (threads) => {
  for (const name of engineNames)
    await expect(startEngine(name, { threads })).rejects.toThrow(
      `${name}: threads is ${threads}, expected a whole number from 1`,
    );
});

test("auto takes the first engine that starts, and says what the faster ones lack", async () => {
  const missing: EngineName[] = [];
  for (const name of engineNames) {
    if (await works(name)) break;
    missing.push(name);
  }
  const { name, description } = await start("auto", { threads: 1 });
  expect(name).toBe(engineNames[missing.length]);
  expect(description.includes("no tensorflow: ")).toBe(missing.includes("tensorflow"));
  expect(description).not.toContain("\n");
  expect(description.length).toBeLessThan(200);
});

test("TensorFlow without its binding, or with one that does not load, is one line with its remedy", async () => {
  const app = mkdtempSync(join(tmpdir(), "engine-"));
  const folder = join(app, "node_modules/@tensorflow/tfjs-node-gpu");
  mkdirSync(join(folder, "lib/napi-v8"), { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  await expect(startEngine("tensorflow", { resolveFrom: app })).rejects.toThrow(
    "tensorflow: no native binding; remedy, for steps 1.3 to 2 times as fast as wasm's: pnpm dflash engine install tensorflow",
  );
  writeFileSync(join(folder, "lib/napi-v8/tfjs_binding.node"), "no shared library");
  writeFileSync(join(folder, "index.js"), 'require("./lib/napi-v8/tfjs_binding.node");');
  const failure: unknown = await startEngine("tensorflow", { resolveFrom: app }).catch((error: unknown) => error);
  expect(String(failure)).toMatch(/tfjs-node-gpu does not load \(.*tfjs_binding\.node.*\); remedy, [^\n]+$/u);
  rmSync(app, { recursive: true });
});

test("a full WASM heap is an error and not silence", async () => {
  await start("wasm", { threads: 1 });
  const backend = tf.backend();
  expect.assert(backend instanceof BackendWasm);
  const fill = () => {
    // Nothing is written, so the machine lends no memory for it.
    for (let i = 0; i < 4; i++) backend.makeOutput([2 ** 28], "float32");
  };
  // A size whose lower 32 bits are small.
  expect(() => backend.makeOutput([2 ** 30 + 1], "float32")).toThrow(
    /^wasm: out of memory: no 4096 MiB left for a tensor of shape \[1073741825\] in a heap of \d+ MiB/u,
  );
  expect(fill).toThrow(
    /^wasm: out of memory: no 1024 MiB left for a tensor of shape \[268435456\] in a heap of \d+ MiB/u,
  );
  const y = product();
  expect(await y.data()).toEqual(Float32Array.of(19, 22, 43, 50));
});

test("values that find no room in a full WASM heap are written nowhere, and the rest of it can be freed", async () => {
  await start("wasm", { threads: 1 });
  const backend = tf.backend();
  expect.assert(backend instanceof BackendWasm);
  const kept = tf.tensor1d([1, 2, 3]);
  await kept.data();
  const untilFull = (size: number): tf.TensorInfo[] => {
    const made: tf.TensorInfo[] = [];
    const fill = (): void => {
      for (;;) made.push(backend.makeOutput([size], "float32"));
    };
    expect(fill).toThrow("wasm: out of memory");
    return made;
  };
  const made = [...untilFull(2 ** 27), ...untilFull(2 ** 22)];
  const heap = "HEAPU8" in backend.wasm && backend.wasm.HEAPU8;
  expect.assert(heap instanceof Uint8Array);
  const bottom = heap.slice(0, 2 ** 16);
  expect(() => backend.write(new Float32Array(2 ** 22).fill(1), [2 ** 22], "float32")).toThrow("wasm: out of memory");
  expect(Buffer.compare(heap.slice(0, 2 ** 16), bottom)).toBe(0);
  expect(await kept.data()).toEqual(Float32Array.of(1, 2, 3));
  for (const { dataId } of made) backend.disposeData(dataId);
  expect(await product().data()).toEqual(Float32Array.of(19, 22, 43, 50));
});
