import * as tf from "@tensorflow/tfjs-core";
import type { EngineCounters } from "./engine.ts";

/** What {@link countKernels} has seen. */
export interface KernelCounts {
  readonly counters: () => EngineCounters;
  /** Bytes alive now; unlike tfjs's own figure, data that several tensors share count once. */
  liveBytes(): number;
  stop(): void;
}

/** Counts what tfjs dispatches, allocates and frees from now on, by shadowing methods of its one engine until `stop`. */
export function countKernels(): KernelCounts {
  const engine = tf.engine();
  const runKernel: typeof engine.runKernel = engine.runKernel.bind(engine);
  const trackTensor = engine.trackTensor.bind(engine);
  const removeDataId = engine.removeDataId.bind(engine);
  let kernels = 0;
  let newBytes = 0;
  let freedBytes = 0;
  engine.runKernel = (kernelName, inputs, attributes) => {
    kernels++;
    return runKernel(kernelName, inputs, attributes);
  };
  engine.trackTensor = (tensor, backend) => {
    // A reshape makes another tensor on known data and allocates nothing.
    if (!engine.state.tensorInfo.has(tensor.dataId)) newBytes += tensor.size * tf.util.bytesPerElement(tensor.dtype);
    trackTensor(tensor, backend);
  };
  engine.removeDataId = (dataId, backend) => {
    freedBytes += engine.state.tensorInfo.get(dataId)?.bytes ?? 0;
    removeDataId(dataId, backend);
  };
  return {
    counters: () => ({ kernels, newBytes }),
    liveBytes: () => newBytes - freedBytes,
    stop() {
      for (const shadow of ["runKernel", "trackTensor", "removeDataId"]) Reflect.deleteProperty(engine, shadow);
    },
  };
}
