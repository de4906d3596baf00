import * as tf from "@tensorflow/tfjs-core";
import type { EngineCounters } from "./engine.ts";
import { createWaitClock } from "./waitClock.ts";

/** What {@link countKernels} has seen. */
export interface KernelCounts {
  readonly counters: EngineCounters;
  /** Counts the time until `wait` settles as waited for the device. */
  readonly waited: <T>(wait: () => Promise<T>) => Promise<T>;
  /** Bytes alive now; unlike tfjs's own figure, data that several tensors share count once. */
  liveBytes(): number;
  stop(): void;
}

/** Running totals of what goes past tfjs. */
export interface OtherCounts {
  /** Kernels. */
  dispatched(): number;
  /** Bytes allocated for values that no tensor was made of, all of them freed. */
  passingBytes(): number;
  /** Values alive that no tensor was made of. */
  tensors(): number;
  /** Told of each reading of `counters.kernels`. */
  read(kernels: number): void;
}

/** Counts what tfjs dispatches, allocates, frees and waits for from now on, by shadowing methods of its one engine until `stop`. */
export function countKernels(others: OtherCounts): KernelCounts {
  const engine = tf.engine();
  const runKernel: typeof engine.runKernel = engine.runKernel.bind(engine);
  const trackTensor = engine.trackTensor.bind(engine);
  const removeDataId = engine.removeDataId.bind(engine);
  const read = engine.read.bind(engine);
  let kernels = 0;
  let newBytes = 0;
  let freedBytes = 0;
  const shapes = new Set<number>();
  const waits = createWaitClock();
  engine.runKernel = (kernelName, inputs, attributes) => {
    kernels++;
    return runKernel(kernelName, inputs, attributes);
  };
  engine.trackTensor = (tensor, backend) => {
    // A reshape makes another tensor on known data and allocates nothing.
    if (!engine.state.tensorInfo.has(tensor.dataId)) {
      newBytes += tensor.size * tf.util.bytesPerElement(tensor.dtype);
      shapes.add(shapeHash(tensor.shape));
    }
    trackTensor(tensor, backend);
  };
  engine.removeDataId = (dataId, backend) => {
    freedBytes += engine.state.tensorInfo.get(dataId)?.bytes ?? 0;
    removeDataId(dataId, backend);
  };
  engine.read = (dataId) => waits.during(() => read(dataId));
  return {
    waited: waits.during,
    counters: {
      get kernels() {
        const total = kernels + others.dispatched();
        others.read(total);
        return total;
      },
      get newBytes() {
        return newBytes + others.passingBytes();
      },
      get tensors() {
        return engine.state.numTensors + others.tensors();
      },
      get newShapes() {
        return shapes.size;
      },
      get syncMs() {
        return waits.ms();
      },
    },
    liveBytes: () => newBytes - freedBytes,
    stop() {
      for (const shadow of ["runKernel", "trackTensor", "removeDataId", "read"]) Reflect.deleteProperty(engine, shadow);
    },
  };
}

/** FNV-1a of the extents: a shape's identity without a string a tensor. */
function shapeHash(shape: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const extent of shape) hash = Math.imul(hash ^ extent, 0x01000193);
  return hash;
}
