import * as tf from "@tensorflow/tfjs-core";
import { countKernels } from "./countKernels.ts";
import type { Engine } from "./engine.ts";
import type { CountedTensorflowOps } from "./openTensorflowOps.ts";
import type { OwnedWasmHeap } from "./wasmHeap.ts";
import type { OwnedDeviceClock } from "./webgpu/deviceClock.ts";
import type { CountedGpuPrograms } from "./webgpu/openGpuPrograms.ts";

/** What each engine adds to the parts that all tfjs backends share. */
export interface TfjsEngineParts extends Pick<Engine, "name" | "description" | "threads" | "deterministic" | "sync"> {
  readonly heapBytes?: () => number;
  readonly emulated?: boolean;
  readonly wasmHeap?: OwnedWasmHeap;
  readonly tensorflowOps?: CountedTensorflowOps;
  readonly gpuPrograms?: CountedGpuPrograms;
  readonly deviceClock?: OwnedDeviceClock | null;
}

let running: string | null = null;

/**
 * Makes a registered tfjs backend the current one and returns it.
 * @throws Error when this thread's tfjs, which is one global object, serves another engine already.
 */
export async function activateBackend(name: string): Promise<tf.KernelBackend> {
  if (running !== null) throw new Error(`the ${running} engine runs in this thread already; dispose it first`);
  const { registry } = tf.engine();
  // By itself tfjs prints a failure and keeps its reason.
  registry[name] ??= await Promise.resolve(tf.findBackendFactory(name)()).catch((error: unknown) => {
    // tfjs's WASM factory rejects with an object that holds a message.
    const { message = String(error) }: { message?: unknown } = Object(error);
    throw error instanceof Error ? error : new Error(`${name} does not start: ${String(message)}`, { cause: error });
  });
  await tf.setBackend(name);
  return tf.backend();
}

/** The {@link Engine} over the current tfjs backend. */
export function tfjsEngine({
  heapBytes,
  wasmHeap,
  tensorflowOps,
  gpuPrograms,
  deviceClock,
  emulated,
  sync,
  ...parts
}: TfjsEngineParts): Engine {
  running = parts.name;
  const counts = countKernels({
    dispatched: (wasmHeap ?? tensorflowOps ?? gpuPrograms)?.dispatched ?? (() => 0),
    passingBytes: () => tensorflowOps?.passingBytes() ?? 0,
    tensors: () => tensorflowOps?.loose() ?? 0,
    read: (kernels) => deviceClock?.mark(kernels),
  });
  let disposed = false;
  return {
    ...parts,
    wasmHeap: wasmHeap ?? null,
    tensorflowOps: tensorflowOps ?? null,
    gpuPrograms: gpuPrograms ?? null,
    deviceClock: deviceClock ?? null,
    emulated: emulated ?? false,
    memory: () => ({ tensors: counts.counters.tensors, bytes: counts.liveBytes(), heapBytes: heapBytes?.() ?? null }),
    counters: counts.counters,
    sync: () => counts.waited(sync),
    dispose() {
      if (disposed) return;
      disposed = true;
      counts.stop();
      wasmHeap?.stop();
      tf.engine().reset();
      running = null;
    },
  };
}
