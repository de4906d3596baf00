import { availableParallelism } from "node:os";
import * as tf from "@tensorflow/tfjs-core";
import type { Engine } from "./engine.ts";
import { loadTensorflowBinding } from "./loadTensorflowBinding.ts";
import { activateBackend, tfjsEngine } from "./tfjsEngine.ts";

/** The native TensorFlow engine, by the binding in the optional package `@tensorflow/tfjs-node-gpu`. */
export async function startTensorflow(
  name: "tensorflow-gpu" | "tensorflow",
  { resolveFrom }: { resolveFrom?: string } = {},
): Promise<Engine> {
  // TensorFlow reads this when its library loads.
  if (name === "tensorflow") process.env["CUDA_VISIBLE_DEVICES"] = "-1";
  loadTensorflowBinding(resolveFrom);
  const backend = await activateBackend("tensorflow");
  const gpu = "isUsingGpuDevice" in backend && backend.isUsingGpuDevice === true;
  if (name === "tensorflow-gpu" && !gpu) {
    tf.engine().reset();
    throw new Error(
      "tensorflow-gpu: TensorFlow sees no GPU here; check the driver, CUDA_VISIBLE_DEVICES and that its library is a CUDA build",
    );
  }
  const threads = Number(process.env["TF_NUM_INTRAOP_THREADS"]) || availableParallelism();
  return tfjsEngine({
    name: gpu ? "tensorflow-gpu" : "tensorflow",
    description: gpu
      ? "tensorflow-gpu: native TensorFlow on a GPU"
      : `tensorflow: native TensorFlow, ${threads} CPU threads`,
    threads,
    deterministic: false,
    wasmHeap: null,
    heapBytes: () => null,
    async sync() {
      // Kernels run in order on one stream: a value computed now is there when all before it are.
      const marker = tf.tidy(() => tf.add(tf.scalar(0), tf.scalar(0)));
      await marker.data();
      marker.dispose();
    },
  });
}
