import * as tf from "@tensorflow/tfjs-core";
import type { Engine } from "./engine.ts";
import { activateBackend, tfjsEngine } from "./tfjsEngine.ts";
import { graphicsNodes, mayHaveGpu } from "./mayHaveGpu.ts";
import { adoptBackend } from "./webgpu/adoptBackend.ts";
import { loadWebgpu } from "./webgpu/loadWebgpu.ts";
import { describe, openAdapter } from "./webgpu/openAdapter.ts";
import { isWebgpuBackend } from "./webgpu/tfjsBackend.ts";

export interface StartWebgpuOptions {
  /** Part of the GPU's name. */
  adapter?: string;
  resolveFrom?: string;
}

/** The engine on a GPU of any maker, by the optional packages `webgpu` (Dawn) and `@tensorflow/tfjs-backend-webgpu`. */
export async function startWebgpu(
  { adapter, resolveFrom }: StartWebgpuOptions = {},
  { allowSoftware = true }: { allowSoftware?: boolean } = {},
): Promise<Engine> {
  // Dawn complains on stderr where there is none, so it is not even asked.
  if (!allowSoftware && !mayHaveGpu(graphicsNodes)) throw new Error("webgpu: no GPU here");
  const { create, globals, WebGPUBackend } = await loadWebgpu(resolveFrom);
  const { gpu, device, info, software } = await openAdapter(create, { adapter, allowSoftware });
  // The backend names them as in a browser.
  Object.assign(globalThis, globals);
  // The backend looks for a browser's GPU when it is made.
  const own = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Object.defineProperty(globalThis, "navigator", { configurable: true, value: { gpu, userAgent: "node" } });
  const made = new WebGPUBackend(device, info);
  if (own === undefined) Reflect.deleteProperty(globalThis, "navigator");
  else Object.defineProperty(globalThis, "navigator", own);
  if (!isWebgpuBackend(made)) {
    throw new Error("webgpu: tfjs-backend-webgpu is not laid out like version 4.22.0; install exactly that version");
  }
  const { programs, clock, sync } = adoptBackend(made, device);
  if ("webgpu" in tf.engine().registryFactory) tf.removeBackend("webgpu");
  tf.registerBackend("webgpu", () => made);
  await activateBackend("webgpu");
  const engine = tfjsEngine({
    name: "webgpu",
    description: `webgpu: ${describe(info)}${software ? ", a GPU in software: far slower than the wasm engine" : ""}`,
    threads: 1,
    deterministic: false,
    gpuPrograms: programs,
    deviceClock: clock,
    emulated: software,
    sync,
  });
  return {
    ...engine,
    dispose() {
      engine.dispose();
      device.destroy();
    },
  };
}
