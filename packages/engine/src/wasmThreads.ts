import { Worker } from "node:worker_threads";
import { webAssembly } from "./webAssembly.ts";
import type { WasmExports, WasmMemory } from "./webAssembly.ts";

/** Runs the exports of one WebAssembly module in several threads that share its memory. */
export interface WasmThreads {
  readonly exports: WasmExports;
  /**
   * Calls an export as `(task, thread, ...values)` for every task from 0 to `tasks` − 1, each in whichever thread is free.
   * Returns when all are done. A thread that has not started yet, or that the machine gives no time to, is not waited for.
   */
  readonly run: (name: string, tasks: number, values: readonly number[]) => void;
  readonly stop: () => void;
}

// Int32 words that all threads see; the values of the call lie beside them as float64.
const [GENERATION, OPEN, INSIDE, NEXT, TASKS, FUNCTION, VALUES, FAILED] = [0, 1, 2, 3, 4, 5, 6, 7];
const WORDS = 8;
const MOST_VALUES = 32;
/** Looks at a word that is about to change, some 50 µs: less than being woken takes. After that a thread sleeps. */
const LOOKS = 20_000;

/** Starts `threads` − 1 workers besides this thread. They never keep the process alive. */
export function startWasmThreads(module: object, memory: WasmMemory, threads: number): WasmThreads {
  const { exports } = new webAssembly.Instance(module, { env: { memory } });
  const names = Object.keys(exports);
  const words = new Int32Array(new SharedArrayBuffer(WORDS * 4));
  const shared = new Float64Array(new SharedArrayBuffer(MOST_VALUES * 8));
  const workers = Array.from({ length: threads - 1 }, (_, index) => {
    const workerData = { module, memory, words, shared, thread: index + 1 };
    // Its output is left unread: with more than ten threads, Node would warn of as many listeners on this process's own.
    const worker = new Worker(workerSource, { eval: true, execArgv: [], workerData, stdout: true, stderr: true });
    // A worker that can't start is one thread less: this thread then does its tasks.
    worker.on("error", () => {});
    worker.unref();
    return worker;
  });

  return {
    exports,
    run(name, tasks, values) {
      const call = exports[name];
      if (call === undefined) throw new TypeError(`wasm: the module exports no ${name}`);
      if (tasks <= 1 || workers.length === 0) {
        for (let task = 0; task < tasks; task++) call(task, 0, ...values);
        return;
      }
      words[TASKS] = tasks;
      words[FUNCTION] = names.indexOf(name);
      words[VALUES] = values.length;
      shared.set(values);
      Atomics.store(words, NEXT, 0);
      Atomics.store(words, OPEN, 1);
      Atomics.add(words, GENERATION, 1);
      Atomics.notify(words, GENERATION);
      try {
        for (let task = Atomics.add(words, NEXT, 1); task < tasks; task = Atomics.add(words, NEXT, 1)) {
          call(task, 0, ...values);
        }
      } finally {
        // Closed first: who comes in from now on sees it and leaves, so the next call's values are safe to write.
        Atomics.store(words, OPEN, 0);
        for (let look = 0, inside = 0; (inside = Atomics.load(words, INSIDE)) !== 0; look++) {
          if (look > LOOKS) Atomics.wait(words, INSIDE, inside);
        }
      }
      if (Atomics.exchange(words, FAILED, 0) !== 0) throw new Error(`wasm: ${name} failed in a worker thread`);
    },
    stop() {
      for (const worker of workers) void worker.terminate();
    },
  };
}

/** The workers' code, as text, since no loader of TypeScript is sure to be there. */
const workerSource = `
const { workerData } = require("node:worker_threads");
const { module, memory, words, shared, thread } = workerData;
const functions = Object.values(new WebAssembly.Instance(module, { env: { memory } }).exports);
let seen = 0;
for (;;) {
  for (let look = 0; look < ${LOOKS} && Atomics.load(words, ${GENERATION}) === seen; look++);
  Atomics.wait(words, ${GENERATION}, seen);
  seen = Atomics.load(words, ${GENERATION});
  Atomics.add(words, ${INSIDE}, 1);
  try {
    if (Atomics.load(words, ${OPEN}) === 1) {
      const call = functions[words[${FUNCTION}]];
      const values = shared.slice(0, words[${VALUES}]);
      const tasks = words[${TASKS}];
      for (let task = Atomics.add(words, ${NEXT}, 1); task < tasks; task = Atomics.add(words, ${NEXT}, 1)) {
        call(task, thread, ...values);
      }
    }
  } catch {
    Atomics.store(words, ${FAILED}, 1);
  } finally {
    Atomics.sub(words, ${INSIDE}, 1);
    Atomics.notify(words, ${INSIDE});
  }
}
`;
