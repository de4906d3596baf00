import type { TensorflowOps } from "./tensorflowOps.ts";
import type { WasmHeap } from "./wasmHeap.ts";
import type { DeviceClock } from "./webgpu/deviceClock.ts";
import type { GpuPrograms } from "./webgpu/gpuPrograms.ts";

/** Engines by name; `auto` takes the fastest that works on this machine. */
export type EngineName = "tensorflow-gpu" | "tensorflow" | "webgpu" | "wasm" | "cpu";

/** Memory held on the engine. */
export interface EngineMemory {
  /** Live tensors. */
  tensors: number;
  /** Bytes of their values. */
  bytes: number;
  /** Bytes of the WASM heap, null on engines without one. */
  heapBytes: number | null;
}

/**
 * Running totals since the engine started, always up to date; a step's causes are differences of two readings. Reading
 * allocates nothing: a `CauseProbe` of `@dflash/timer`.
 */
export interface EngineCounters {
  /** Kernels dispatched. */
  readonly kernels: number;
  /** Bytes of outputs newly allocated. */
  readonly newBytes: number;
  /** Tensors alive now. */
  readonly tensors: number;
  /** Distinct shapes of tensors allocated so far. */
  readonly newShapes: number;
  /** Time in which a read or `sync` waited for the device, ms; on engines that compute as they are called, that of a copy. */
  readonly syncMs: number;
}

/** One started tensor engine. One a thread. */
export interface Engine {
  /** Which engine this is. */
  readonly name: EngineName;
  /** One line: which engine, why this one, and the remedy for a faster one that is missing. */
  readonly description: string;
  /** Threads that it computes with. */
  readonly threads: number;
  /** Whether the same inputs give the same bits on every run; on TensorFlow with as many threads, since it divides sums by them. */
  readonly deterministic: boolean;
  /** Whether its device is a program on the CPU, which `auto` never takes: a GPU in software. */
  readonly emulated: boolean;
  /** Direct access to the memory of the `wasm` engine, for fused kernels; null on the others. */
  readonly wasmHeap: WasmHeap | null;
  /** TensorFlow's own ops on the `tensorflow` engines, for fused kernels; null on the others. */
  readonly tensorflowOps: TensorflowOps | null;
  /** WebGPU on the `webgpu` engine, for fused kernels; null on the others. */
  readonly gpuPrograms: GpuPrograms | null;
  /** The clock of a device that computes beside this thread; null where there is none. */
  readonly deviceClock: DeviceClock | null;
  /** Memory held now. */
  readonly memory: () => EngineMemory;
  /** Running totals of what was dispatched and allocated. */
  readonly counters: EngineCounters;
  /** Resolves when everything dispatched so far has been computed. */
  readonly sync: () => Promise<void>;
  /** Stops threads and frees memory. */
  readonly dispose: () => void;
}
