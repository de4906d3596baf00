import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Engine } from "./engine.ts";
import { startEngine } from "./startEngine.ts";
import type { WasmHeap } from "./wasmHeap.ts";
import { markModule } from "./wasmModule.test-support.ts";

let engine: Engine;
let heap: WasmHeap;
beforeEach(async () => {
  engine = await startEngine("wasm", { threads: 3 });
  heap = engine.wasmHeap!;
});
afterEach(() => engine.dispose());

/** Calls again and again until the workers, which take a while to start, have come in too. */
function until(done: () => boolean): void {
  const end = performance.now() + 30_000;
  while (!done() && performance.now() < end);
}

test("all threads take tasks", () => {
  const { run } = heap.load([markModule]);
  const tasks = 20_000;
  const at = heap.allocate(4 * tasks);
  const seen = new Set<number>();
  until(() => {
    run("mark", tasks, [at]);
    for (const mark of heap.ints(at, tasks)) seen.add(mark);
    return seen.size === 3;
  });
  expect([...seen].toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  heap.free(at);
});

test("a failure in a worker is thrown here, and the next call works", () => {
  const { run } = heap.load([markModule]);
  let failure: unknown;
  until(() => {
    try {
      run("fail", 20_000, [1]);
    } catch (error) {
      failure = error;
    }
    return failure !== undefined;
  });
  expect(failure).toEqual(new Error("wasm: fail failed in a worker thread"));
  const at = heap.allocate(4000);
  heap.ints(at, 1000).fill(0);
  run("mark", 1000, [at]);
  expect(Math.min(...heap.ints(at, 1000))).toBeGreaterThan(0);
  heap.free(at);
});

const processState = () => ({
  listeners: process.eventNames().map((name) => [name, process.listenerCount(name)]),
  worker: Object.getOwnPropertyDescriptor(globalThis, "Worker"),
});

test("globals and the process are as before", async () => {
  engine.dispose();
  const before = processState();
  engine = await startEngine("wasm", { threads: 2 });
  expect(processState()).toEqual(before);
});

test("threads don't keep a process alive, nor a rejection from being one", () => {
  const program = `
    import { startEngine } from ${JSON.stringify(new URL("index.ts", import.meta.url).href)};
    const engine = await startEngine("wasm", { threads: 2 });
    engine.wasmHeap.load([Buffer.from(${JSON.stringify(Buffer.from(markModule).toString("base64"))}, "base64")]);
    process.on("unhandledRejection", (reason) => console.log("heard", reason));
    Promise.reject("of mine");
    console.log(engine.description);
  `;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "--eval", program],
    { encoding: "utf8", timeout: 30_000, cwd: import.meta.dirname },
  );
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: "wasm: WebAssembly SIMD, 2 threads\nheard of mine\n",
    stderr: "",
  });
});
