import * as tf from "@tensorflow/tfjs-core";
import type { Engine } from "./engine.ts";
import { loadTensorflowBinding } from "./loadTensorflowBinding.ts";
import { mayHaveGpu } from "./mayHaveGpu.ts";
import { refuseExhaustion } from "./refuseExhaustion.ts";
import { cpuMultipliesBf16, type MatmulPrecision, type TensorflowSettings } from "./tensorflowEnvironment.ts";
import { openTensorflowOps, type TensorflowBackend } from "./openTensorflowOps.ts";
import { activateBackend, tfjsEngine } from "./tfjsEngine.ts";

/** The native TensorFlow engine, by the binding in the optional package `@tensorflow/tfjs-node-gpu`. */
export async function startTensorflow(
  name: "tensorflow-gpu" | "tensorflow",
  wanted: { threads?: number; matmulPrecision?: MatmulPrecision; resolveFrom?: string },
  named: boolean,
): Promise<Engine> {
  // The library, once loaded for a GPU in vain, would keep its threads for the CPU's engine.
  if (name === "tensorflow-gpu" && !named && !mayHaveGpu(["/dev/nvidiactl", "/dev/dxg"]))
    throw new Error("tensorflow-gpu: no NVIDIA GPU here");
  const settings = loadTensorflowBinding({ gpu: name === "tensorflow-gpu", ...wanted });
  const backend = await activateBackend("tensorflow");
  if (!isTensorflowBackend(backend)) throw new TypeError("tensorflow: another backend is registered under this name");
  const gpu = backend.binding.isUsingGpuDevice();
  if (name === "tensorflow-gpu" && !gpu) {
    tf.engine().reset();
    throw new Error(
      "tensorflow-gpu: TensorFlow sees no GPU here; check the driver, CUDA_VISIBLE_DEVICES and that its library is a CUDA build",
    );
  }
  refuseExhaustion(backend);
  const device = gpu ? "a GPU" : `${settings.threads} CPU thread${settings.threads === 1 ? "" : "s"}`;
  return tfjsEngine({
    name: gpu ? "tensorflow-gpu" : "tensorflow",
    description: `${gpu ? "tensorflow-gpu" : "tensorflow"}: native TensorFlow, ${[device, ...remarks(settings, wanted, gpu)].join(", ")}`,
    threads: settings.threads,
    deterministic: !gpu,
    tensorflowOps: openTensorflowOps(backend),
    async sync() {
      // Kernels run in order on one stream: a value computed now is there when all before it are.
      const marker = tf.tidy(() => tf.add(tf.scalar(0), tf.scalar(0)));
      await marker.data();
      marker.dispose();
    },
  });
}

/** Whether this is the backend of tfjs-node. */
const isTensorflowBackend = (backend: object): backend is TensorflowBackend & tf.KernelBackend =>
  "binding" in backend && "tensorMap" in backend;

/** What is not as it was asked for, or not as one would expect. */
function remarks(
  settings: TensorflowSettings,
  { threads, matmulPrecision }: { threads?: number; matmulPrecision?: MatmulPrecision },
  gpu: boolean,
): string[] {
  const found: string[] = [];
  if (settings.matmulPrecision === "bf16") {
    if (gpu) found.push("products in TensorFloat-32");
    else if (cpuMultipliesBf16() === false) found.push("products in float32: this CPU has no bf16 units");
    else found.push("products in bf16");
  }
  const differs =
    (threads !== undefined && threads !== settings.threads) ||
    (matmulPrecision !== undefined && matmulPrecision !== settings.matmulPrecision);
  if (differs) found.push("as it was first started in this process, which can't be changed");
  return found;
}
