import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";
import { compileFirst } from "./compileFirst.ts";
import { heapBytes, refuseFailedAllocations } from "./refuseFailedAllocations.ts";
import { startWasmThreads } from "./wasmThreads.ts";
import type { WasmThreads } from "./wasmThreads.ts";
import { webAssembly } from "./webAssembly.ts";
import type { WasmExports, WasmMemory } from "./webAssembly.ts";

/** Values on the heap of the WASM engine; tfjs's tensors are such. */
export interface HeapValues {
  /** What tfjs knows the values by. */
  readonly dataId: object;
}

/** What tfjs makes a tensor from. */
export interface HeapOutput extends HeapValues {
  /** What tfjs knows the values by. */
  dataId: object;
  /** Extent of each axis. */
  shape: number[];
  /** Element type. */
  dtype: "float32" | "int32";
}

/**
 * The memory of the WASM engine, for kernels that compute on it directly. The heap grows when something is allocated, so
 * take an address or a view after allocating, and use a view at once.
 */
export interface WasmHeap {
  /** Threads that {@link WasmProgram} runs in. */
  readonly threads: number;
  /** Memory for a tensor's values, which are undefined at first. */
  readonly output: (shape: readonly number[], dtype: "float32" | "int32") => HeapOutput;
  /** Where the values lie, in bytes. */
  readonly address: (values: HeapValues) => number;
  /** A view of `length` float32 values at an address in bytes. */
  readonly floats: (address: number, length: number) => Float32Array;
  /** A view of `length` float64 values at an address in bytes. */
  readonly doubles: (address: number, length: number) => Float64Array;
  /** A view of `length` int32 values at an address in bytes. */
  readonly ints: (address: number, length: number) => Int32Array;
  /** Scratch memory. Throws an Error when the heap is full. */
  readonly allocate: (bytes: number) => number;
  /** Frees scratch memory by the address that `allocate` gave. */
  readonly free: (address: number) => void;
  /** Tells tfjs that values were changed in place: it keeps packed copies of what it has multiplied by. */
  readonly refresh: (values: HeapValues) => void;
  /**
   * Starts the first of some modules that this Node accepts, to compute on this heap. They import `env.memory`, declared as
   * shared, and must have no static data. Relaxed SIMD is accepted from Node 20 on.
   */
  readonly load: (modules: readonly Uint8Array[]) => WasmProgram;
}

/** A module at work on the heap. */
export interface WasmProgram {
  /** The module's functions, for calls in this thread. */
  readonly exports: WasmExports;
  /** Calls an export as `(task, thread, ...values)` for every task from 0 to `tasks` − 1, in several threads; returns when all are done. */
  readonly run: (name: string, tasks: number, values: readonly number[]) => void;
}

/** The heap with what its engine needs. */
export interface OwnedWasmHeap extends WasmHeap {
  /** Calls of {@link WasmProgram.run} so far. */
  readonly dispatched: () => number;
  readonly stop: () => void;
}

/** Opens the heap of tfjs-backend-wasm 4.22.0, whose internals it uses. `wanted` threads need a shared memory, else it is one. */
export function openWasmHeap(backend: BackendWasm, wanted: number): OwnedWasmHeap {
  const { wasm } = backend;
  const { asm, memory } = emscripten(wasm);
  const shared = memory.buffer instanceof SharedArrayBuffer;
  const threads = shared ? wanted : 1;
  const programs: WasmThreads[] = [];
  let dispatched = 0;
  refuseFailedAllocations(backend);
  return {
    threads,
    output(shape, dtype) {
      const extents = [...shape];
      return { dataId: backend.write(null, extents, dtype), shape: extents, dtype };
    },
    address: ({ dataId }) => backend.getMemoryOffset(dataId),
    floats: (address, length) => new Float32Array(memory.buffer, address, length),
    doubles: (address, length) => new Float64Array(memory.buffer, address, length),
    ints: (address, length) => new Int32Array(memory.buffer, address, length),
    allocate(bytes) {
      // malloc takes 32 bits; what it returns is signed, and 0 when there is no room.
      const address = bytes < 2 ** 32 ? asm.malloc(bytes) >>> 0 : 0;
      if (address === 0 && bytes > 0) {
        throw new Error(
          `wasm: out of memory: no ${Math.ceil(bytes / 2 ** 20)} MiB of scratch left in a heap of ` +
            `${Math.round(heapBytes(backend) / 2 ** 20)} MiB, which can't pass 4,096; use fewer tokens a batch or a smaller model`,
        );
      }
      return address;
    },
    free: (address) => asm.free(address),
    refresh({ dataId }) {
      const { id, shape, memoryOffset } = backend.dataIdMap.get(dataId);
      wasm.tfjs.disposeData(id);
      wasm.tfjs.registerTensor(
        id,
        shape.reduce((size, extent) => size * extent, 1),
        memoryOffset,
      );
    },
    load(modules) {
      const program = startWasmThreads(compileFirst(modules, shared), memory, threads);
      programs.push(program);
      return {
        exports: program.exports,
        run(name, tasks, values) {
          dispatched++;
          program.run(name, tasks, values);
        },
      };
    },
    dispatched: () => dispatched,
    stop: () => programs.forEach((program) => program.stop()),
  };
}

/** What Emscripten adds to the module, whose types tfjs leaves to a package that it doesn't install. */
interface Emscripten {
  asm: { malloc(bytes: number): number; free(address: number): void; memory?: WasmMemory };
  /** The threaded build makes its memory and imports it; the plain build exports it. */
  wasmMemory?: WasmMemory;
}

function emscripten(wasm: object): Emscripten & { memory: WasmMemory } {
  if (isEmscripten(wasm)) {
    const memory = wasm.wasmMemory ?? wasm.asm.memory;
    if (memory instanceof webAssembly.Memory) return { asm: wasm.asm, memory };
  }
  throw new Error("wasm: tfjs-backend-wasm is not laid out like version 4.22.0; install exactly that version");
}

function isEmscripten(wasm: object): wasm is Emscripten {
  const asm: unknown = Reflect.get(wasm, "asm");
  return typeof asm === "object" && asm !== null && "malloc" in asm && "free" in asm;
}
