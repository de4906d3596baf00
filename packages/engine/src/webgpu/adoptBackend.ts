import * as tf from "@tensorflow/tfjs-core";
import { createBufferPool } from "./bufferPool.ts";
import { createDeviceClock, type OwnedDeviceClock } from "./deviceClock.ts";
import { batchSize, type CountedGpuPrograms, openGpuPrograms } from "./openGpuPrograms.ts";
import type { WebgpuBackend } from "./tfjsBackend.ts";

/** What an engine has of its GPU. */
export interface AdoptedBackend {
  readonly programs: CountedGpuPrograms;
  /** Null where the device has no timestamps. */
  readonly clock: OwnedDeviceClock | null;
  /** Bytes of buffers, those that are kept for later included. */
  readonly bytes: () => number;
  /** Resolves when all that was dispatched has been computed. */
  readonly sync: () => Promise<void>;
}

/**
 * Makes tfjs-backend-webgpu 4.22.0 fit to train with: buffers from a pool that is bounded, values to the device without
 * a buffer of their own, reads that keep no copy, since values change in place, fewer submits, and errors of the device
 * thrown where its user sees them.
 */
export function adoptBackend(backend: WebgpuBackend, device: GPUDevice): AdoptedBackend {
  tf.env().set("WEBGPU_DEFERRED_SUBMIT_BATCH_SIZE", batchSize);
  // Values that are still on the host are to be computed with like all others.
  tf.env().set("WEBGPU_CPU_FORWARD", false);
  const pool = createBufferPool(device);
  const failure = watchFailures(device);
  const programs = openGpuPrograms(backend, device);
  backend.bufferManager = pool;

  const submit = backend.submitQueue.bind(backend);
  backend.submitQueue = () => {
    programs.flush();
    submit();
  };
  const flush = (): GPUCommandEncoder => {
    backend.ensureCommandEncoderReady();
    backend.endComputePassEncoder();
    return backend.commandEncoder!;
  };
  const submitAll = (): void => {
    flush();
    backend.submitQueue();
  };
  const clock = device.features.has("timestamp-query")
    ? createDeviceClock({ device, encoder: flush, submit: () => backend.submitQueue() })
    : null;

  backend.nextPass = () => {
    failure.check();
    if (clock?.due()) backend.endComputePassEncoder();
    backend.ensureCommandEncoderReady();
    const timestampWrites = backend.computePassEncoder === null ? clock?.pass() : undefined;
    return (backend.computePassEncoder ??= backend.commandEncoder!.beginComputePass(
      timestampWrites === undefined ? {} : { timestampWrites },
    ));
  };
  const record = backend.recordAndSubmit.bind(backend);
  backend.recordAndSubmit = (...program) => {
    backend.nextPass();
    record(...program);
  };

  backend.uploadToGPU = (dataId) => {
    const tensor = backend.tensorMap.get(dataId);
    if (tensor.resource) return;
    const { values, shape } = tensor;
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    tensor.resource = pool.acquireBuffer(4 * tf.util.sizeFromShape([...shape]), usage);
    if (!values) return;
    // A boolean is a word on the device.
    const words = tensor.dtype === "bool" ? Int32Array.from(values) : values;
    device.queue.writeBuffer(tensor.resource, 0, words.buffer, words.byteOffset, words.byteLength);
    tensor.values = null;
  };

  backend.read = async (dataId) => {
    const { values, shape, resource, dtype } = backend.tensorMap.get(dataId);
    const size = tf.util.sizeFromShape([...shape]);
    if (size === 0) return dtype === "float32" ? new Float32Array() : new Int32Array();
    if (!resource) return values!.slice();
    const staging = pool.acquireBuffer(4 * size, GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ);
    try {
      flush().copyBufferToBuffer(resource, 0, staging, 0, 4 * size);
      backend.submitQueue();
      await staging.mapAsync(GPUMapMode.READ, 0, 4 * size);
      failure.check();
      const bytes = staging.getMappedRange(0, 4 * size).slice(0);
      staging.unmap();
      return dtype === "float32" ? new Float32Array(bytes) : new Int32Array(bytes);
    } catch (error) {
      failure.check();
      throw error;
    } finally {
      pool.releaseBuffer(staging);
    }
  };

  return {
    programs,
    clock,
    bytes: () => pool.numBytesAllocated,
    async sync() {
      submitAll();
      await device.queue.onSubmittedWorkDone();
      failure.check();
    },
  };
}

/** Keeps the first error that the device reports, which it does after the call that caused it, until someone can throw it. */
function watchFailures(device: GPUDevice): { check: () => void } {
  let failure: Error | null = null;
  device.onuncapturederror = ({ error }) => {
    const [reason = ""] = error.message.split("\n");
    failure ??= new Error(
      error instanceof GPUOutOfMemoryError
        ? "webgpu: out of memory: the GPU has no room for another buffer; use fewer tokens a batch or a smaller model"
        : `webgpu: the GPU refuses a command: ${reason}`,
    );
  };
  const awaitLoss = async (): Promise<void> => {
    const { reason, message } = await device.lost;
    if (reason !== "destroyed") failure ??= new Error(`webgpu: the GPU is gone: ${message.split("\n")[0]}`);
  };
  void awaitLoss();
  return {
    check() {
      if (failure !== null) throw failure;
    },
  };
}
