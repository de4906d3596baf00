import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";

/** Size of the WASM heap now. It grows and never shrinks. */
export function heapBytes({ wasm }: BackendWasm): number {
  return "HEAPU8" in wasm && wasm.HEAPU8 instanceof Uint8Array ? wasm.HEAPU8.byteLength : 0;
}

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);

/**
 * Makes the WASM backend throw when its heap is full. By itself it goes on with address 0 and overwrites the bottom of
 * the heap, which shows up much later as wrong numbers.
 */
export function refuseFailedAllocations(backend: BackendWasm): void {
  const move = backend.move.bind(backend);
  const refuse = (bytes: number, shape: readonly number[]): never => {
    throw new Error(
      `wasm: out of memory: no ${mebibytes(bytes)} MiB left for a tensor of shape [${shape.join(", ")}] in a heap of ` +
        `${mebibytes(heapBytes(backend))} MiB, which can't pass 4,096; use fewer tokens a batch or a smaller model`,
    );
  };
  backend.move = (dataId, values, shape, dtype, refCount) => {
    const bytes = shape.reduce((size, extent) => size * extent, 4);
    // The heap's own allocator takes 32 bits of a size, and would find room for what is left of a larger one.
    if (dtype !== "string" && bytes >= 2 ** 32) refuse(bytes, shape);
    move(dataId, values, shape, dtype, refCount);
    if (dtype === "string" || bytes === 0 || backend.getMemoryOffset(dataId) !== 0) return;
    backend.disposeData(dataId, true);
    refuse(bytes, shape);
  };
}
