import type { Engine } from "./engine.ts";
import { activateBackend, tfjsEngine } from "./tfjsEngine.ts";

/** The plain JavaScript engine: right everywhere and very slow, the reference for small shapes. */
export async function startCpu(): Promise<Engine> {
  await import("@tensorflow/tfjs-backend-cpu");
  const backend = await activateBackend("cpu");
  // Its first write would print a banner that advertises another package.
  Object.assign(backend, { firstUse: false });
  return tfjsEngine({
    name: "cpu",
    description: "cpu: plain JavaScript, for small shapes only; the wasm engine is far faster and needs nothing more",
    threads: 1,
    deterministic: true,
    sync: () => Promise.resolve(),
  });
}
