import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import util from "node:util";
import * as tf from "@tensorflow/tfjs-core";
import type { Engine } from "./engine.ts";
import { activateBackend, tfjsEngine } from "./tfjsEngine.ts";

const packageName = "@tensorflow/tfjs-node-gpu";

/** The native TensorFlow engine, by the binding in the optional package `@tensorflow/tfjs-node-gpu`. */
export async function startTensorflow(
  name: "tensorflow-gpu" | "tensorflow",
  { resolveFrom }: { resolveFrom?: string } = {},
): Promise<Engine> {
  loadBinding(resolveFrom);
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
    backend,
    heapBytes: () => null,
    async sync() {
      // Kernels run in order on one stream: a value computed now is there when all before it are.
      const marker = tf.tidy(() => tf.add(tf.scalar(0), tf.scalar(0)));
      await marker.data();
      marker.dispose();
    },
  });
}

/** Loads the binding, which registers its backend with tfjs-core. Throws one line that says what is missing, and the remedy. */
function loadBinding(resolveFrom: string | undefined): void {
  // TensorFlow reads this when its library loads.
  process.env["TF_CPP_MIN_LOG_LEVEL"] ??= "2";
  restoreUtilChecks();
  const require = createRequire(import.meta.url);
  const path = findPackage(resolveFrom);
  try {
    require(path);
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new Error(
      `tensorflow: ${packageName} is installed but its native binding does not load (${reason.trim()}); ` +
        "remedy: pnpm rebuild it with network access, or build its binding against an installed TensorFlow",
      { cause: error },
    );
  }
}

/** Path of the optional package; pnpm links it only where it is declared, which is the app's folder and not this one. */
function findPackage(resolveFrom: string | undefined): string {
  const script = process.argv[1];
  const folders = [resolveFrom, process.cwd(), script === undefined ? undefined : dirname(script), import.meta.dirname];
  for (const folder of folders) {
    if (folder === undefined) continue;
    try {
      return createRequire(join(resolve(folder), "package.json")).resolve(packageName);
    } catch {
      // Not linked from there.
    }
  }
  throw new Error(`tensorflow: ${packageName} is not installed; remedy: pnpm add ${packageName}@4.22.0`);
}

/** Node 23 dropped two checks of `util` that the binding's JavaScript still calls. */
function restoreUtilChecks(): void {
  const checks = {
    isNullOrUndefined: (value: unknown) => value === null || value === undefined,
    isArray: (value: unknown) => Array.isArray(value),
  };
  for (const [name, check] of Object.entries(checks)) {
    if (!(name in util)) Object.assign(util, { [name]: check });
  }
}
