import type { BufferPool } from "./bufferPool.ts";

/** What we use and replace of the backend in tfjs-backend-webgpu 4.22.0. */
export interface WebgpuBackend {
  readonly tensorMap: { get(dataId: object): TensorRecord };
  bufferManager: BufferPool;
  commandEncoder: GPUCommandEncoder | null;
  computePassEncoder: GPUComputePassEncoder | null;
  /** Tensors in commands that are not submitted yet: their buffers are released after that. */
  commandQueueOwnedIds: WeakSet<object>;
  dispatchCountInPass: number;
  write(values: Float32Array | Int32Array | null, shape: readonly number[], dtype: "float32" | "int32"): object;
  disposeData(dataId: object, force?: boolean): boolean;
  uploadToGPU(dataId: object): void;
  recordAndSubmit(...program: unknown[]): void;
  ensureCommandEncoderReady(): void;
  endComputePassEncoder(): void;
  submitQueue(): void;
  /** Ours: the pass that the next dispatch belongs to. */
  nextPass(): GPUComputePassEncoder;
  read(dataId: object): Promise<Float32Array | Int32Array>;
}

interface TensorRecord {
  readonly shape: readonly number[];
  readonly dtype: string;
  values: Float32Array | Int32Array | null | undefined;
  resource: GPUBuffer | null | undefined;
}

/** Whether the backend is laid out like version 4.22.0. */
export function isWebgpuBackend(backend: object): backend is WebgpuBackend {
  const parts = [
    "tensorMap",
    "bufferManager",
    "uploadToGPU",
    "recordAndSubmit",
    "submitQueue",
    "endComputePassEncoder",
  ];
  return parts.every((part) => part in backend);
}
