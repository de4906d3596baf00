import { availableParallelism } from "node:os";
import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";
import type { Engine } from "./engine.ts";
import { heapBytes } from "./refuseFailedAllocations.ts";
import { activateBackend, tfjsEngine } from "./tfjsEngine.ts";
import { openWasmHeap } from "./wasmHeap.ts";
import { withSharedMemory, withoutNewListeners } from "./withSharedMemory.ts";

/**
 * The WebAssembly SIMD engine: runs on every machine and needs no native code. With more than one thread its heap is a
 * shared memory; where that doesn't start it goes on with one thread and says so.
 */
export async function startWasm({
  threads = Math.min(availableParallelism(), 4),
}: { threads?: number } = {}): Promise<Engine> {
  let failure = "";
  let backend: BackendWasm | null = null;
  if (threads > 1) {
    backend = await withSharedMemory(activateWasm).catch((error: unknown) => {
      failure = ` (${threads} were wanted: ${error instanceof Error ? error.message : String(error)})`;
      return null;
    });
  }
  const started = backend ?? (await withoutNewListeners(activateWasm));
  const wasmHeap = openWasmHeap(started, threads);
  return tfjsEngine({
    name: "wasm",
    description: `wasm: WebAssembly SIMD, ${wasmHeap.threads} thread${wasmHeap.threads === 1 ? "" : "s"}${failure}`,
    threads: wasmHeap.threads,
    deterministic: true,
    wasmHeap,
    heapBytes: () => heapBytes(started),
    sync: () => Promise.resolve(),
  });
}

async function activateWasm(): Promise<BackendWasm> {
  const { BackendWasm: Backend, setThreadsCount } = await import("@tensorflow/tfjs-backend-wasm");
  // tfjs's own threads would only serve its matrix product; the heap's serve every fused kernel.
  setThreadsCount(1);
  const backend = await activateBackend("wasm");
  if (!(backend instanceof Backend)) throw new TypeError("wasm: another backend is registered under this name");
  return backend;
}
