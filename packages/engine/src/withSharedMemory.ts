import { env } from "@tensorflow/tfjs-core";

/**
 * Runs `start` so that tfjs takes its threaded build, whose heap is a shared memory that kernels of ours can work on from
 * several threads. That build does not start in Node by itself (tfjs issue 3830), and of its own eight workers, which only
 * its matrix product would use, none is started. Puts back every global that it or tfjs touches.
 */
export async function withSharedMemory<T>(start: () => Promise<T>): Promise<T> {
  const flag = "WASM_HAS_MULTITHREAD_SUPPORT";
  // A flag can be set once its package has registered it.
  await import("@tensorflow/tfjs-backend-wasm");
  const worker = Object.getOwnPropertyDescriptor(globalThis, "Worker");
  env().set(flag, true);
  // The build assigns node:worker_threads' Worker to the global and makes its pool from that.
  Object.defineProperty(globalThis, "Worker", { configurable: true, get: () => workerStandIn, set: () => {} });
  try {
    return await withoutNewListeners(start);
  } finally {
    env().set(flag, false);
    if (worker === undefined) Reflect.deleteProperty(globalThis, "Worker");
    else Object.defineProperty(globalThis, "Worker", worker);
  }
}

/** Runs `start` and takes away what it adds to the process: Emscripten's handlers turn any rejection into an exit. */
export async function withoutNewListeners<T>(start: () => Promise<T>): Promise<T> {
  const exceptions = process.listeners("uncaughtException");
  const rejections = process.listeners("unhandledRejection");
  try {
    return await start();
  } finally {
    for (const listener of process.listeners("uncaughtException")) {
      if (!exceptions.includes(listener)) process.off("uncaughtException", listener);
    }
    for (const listener of process.listeners("unhandledRejection")) {
      if (!rejections.includes(listener)) process.off("unhandledRejection", listener);
    }
  }
}

interface WorkerStandIn {
  onmessage?: (event: { data: { cmd: string } }) => void;
}

const ignore = (): void => {};

/** Called with `new`: a worker that says that it is loaded, and does nothing. */
function workerStandIn(this: WorkerStandIn): void {
  const postMessage = ({ cmd }: { cmd: string }): void => {
    if (cmd === "load") this.onmessage?.({ data: { cmd: "loaded" } });
  };
  Object.assign(this, { postMessage, on: ignore, ref: ignore, unref: ignore, terminate: ignore });
}
