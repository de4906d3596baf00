import { availableParallelism } from "node:os";
import type { Engine } from "./engine.ts";
import { heapBytes, refuseFailedAllocations } from "./refuseFailedAllocations.ts";
import { activateBackend, tfjsEngine } from "./tfjsEngine.ts";

/** The WebAssembly SIMD engine: on every machine, no native code. More than one thread where Node lets it. */
export async function startWasm({
  threads = Math.min(availableParallelism(), 4),
}: { threads?: number } = {}): Promise<Engine> {
  if (!Number.isInteger(threads) || threads < 1)
    throw new Error(`wasm: threads is ${threads}, expected a whole number from 1`);
  const { BackendWasm, setThreadsCount, getThreadsCount } = await import("@tensorflow/tfjs-backend-wasm");
  setThreadsCount(1);
  const backend = await activateBackend("wasm");
  if (!(backend instanceof BackendWasm)) throw new TypeError("wasm: another backend is registered under this name");
  refuseFailedAllocations(backend);
  const started = getThreadsCount();
  return tfjsEngine({
    name: "wasm",
    description: `wasm: WebAssembly SIMD, ${started} thread${started === 1 ? "" : "s"}`,
    threads: started,
    deterministic: true,
    backend,
    heapBytes: () => heapBytes(backend),
    sync: () => Promise.resolve(),
  });
}
