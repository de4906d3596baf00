import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";

/** Size of the WASM heap now. It grows and never shrinks. */
export function heapBytes(backend: BackendWasm): number {
  return bytesOf(backend).byteLength;
}

/** The heap; another view once it has grown. */
function bytesOf({ wasm }: BackendWasm): Uint8Array {
  return "HEAPU8" in wasm && wasm.HEAPU8 instanceof Uint8Array ? wasm.HEAPU8 : new Uint8Array();
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
    if (dtype === "string") return move(dataId, values, shape, dtype, refCount);
    const bytes = shape.reduce((size, extent) => size * extent, 4);
    // The heap's own allocator takes 32 bits of a size, and would find room for what is left of a larger one.
    if (bytes >= 2 ** 32) refuse(bytes, shape);
    move(dataId, null, shape, dtype, refCount);
    const address = backend.getMemoryOffset(dataId);
    if (address === 0 && bytes > 0) {
      backend.disposeData(dataId, true);
      refuse(bytes, shape);
    }
    // Only once there is room for them: the backend would write them to address 0.
    if (ArrayBuffer.isView(values)) {
      bytesOf(backend).set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), address);
    }
  };
}
