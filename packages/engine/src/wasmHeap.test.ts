import * as tf from "@tensorflow/tfjs-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Engine } from "./engine.ts";
import { startEngine } from "./startEngine.ts";
import type { WasmHeap } from "./wasmHeap.ts";
import { markModule } from "./wasmModule.test-support.ts";

describe.each([1, 2])("%d threads", (threads) => {
  let engine: Engine;
  let heap: WasmHeap;
  beforeEach(async () => {
    engine = await startEngine("wasm", { threads });
    heap = engine.wasmHeap!;
  });
  afterEach(() => engine.dispose());

  test("a tensor made on the heap is read, counted and freed as any other", async () => {
    const before = engine.counters.newBytes;
    const tensor = tf.engine().makeTensorFromTensorInfo(heap.output([2, 3], "float32"));
    heap.floats(heap.address(tensor), 6).set([1, 2, 3, 4, 5, 6]);
    expect(await tensor.array()).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    expect(engine.counters.newBytes - before).toBe(24);
    tensor.dispose();
    expect(engine.memory()).toMatchObject({ tensors: 0, bytes: 0 });
  });

  test("after refresh tfjs multiplies by the new values", async () => {
    const [x, weight] = [tf.tensor2d([1, 2], [1, 2]), tf.tensor2d([3, 4], [2, 1])];
    expect(await tf.matMul(x, weight).array()).toEqual([[11]]);
    heap.floats(heap.address(weight), 2).set([5, 6]);
    heap.refresh(weight);
    expect(await tf.matMul(x, weight).array()).toEqual([[17]]);
  });

  test("every task runs once, and calls are counted", () => {
    const { run } = heap.load([markModule]);
    const tasks = 10_000;
    const at = heap.allocate(4 * tasks);
    heap.ints(at, tasks).fill(0);
    const { kernels } = engine.counters;
    run("mark", tasks, [at]);
    expect(Math.min(...heap.ints(at, tasks))).toBeGreaterThan(0);
    expect(Math.max(...heap.ints(at, tasks))).toBeLessThanOrEqual(threads);
    expect(engine.counters.kernels - kernels).toBe(1);
    heap.free(at);
  });

  test("allocating grows the heap, and what was there stays", () => {
    const at = heap.allocate(16);
    heap.doubles(at, 2).set([1.5, 2.5]);
    const bytes = engine.memory().heapBytes!;
    const large = heap.allocate(bytes);
    expect(engine.memory().heapBytes).toBeGreaterThan(bytes);
    expect([...heap.doubles(at, 2)]).toEqual([1.5, 2.5]);
    heap.free(large);
    heap.free(at);
  });

  test("scratch that does not fit is an error that says what to do", () => {
    const taken: number[] = [];
    const fill = () => {
      // Nothing is written, so the machine lends no memory for it.
      for (let i = 0; i < 4; i++) taken.push(heap.allocate(2 ** 30));
    };
    expect(fill).toThrow(
      /^wasm: out of memory: no 1024 MiB of scratch left in a heap of \d+ MiB, .*; use fewer tokens/u,
    );
    for (const address of taken) heap.free(address);
  });

  test("a failure in this thread and an unknown name are thrown, and the next call works", () => {
    const { run } = heap.load([markModule]);
    const at = heap.allocate(4);
    expect(() => run("fail", 2, [0])).toThrow("unreachable");
    expect(() => run("none", 2, [0])).toThrow("wasm: the module exports no none");
    run("mark", 1, [at]);
    expect(heap.ints(at, 1)[0]).toBe(1);
    heap.free(at);
  });

  test("the first module that is accepted is taken", () => {
    expect(heap.load([Uint8Array.of(1, 2, 3), markModule]).exports["mark"]).toBeTypeOf("function");
    expect(() => heap.load([Uint8Array.of(1, 2, 3)])).toThrow(/^wasm: Node v\S+ accepts no form of the kernels/u);
  });
});
