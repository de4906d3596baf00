import { setFlagsFromString } from "node:v8";
import { webAssembly } from "./webAssembly.ts";

/** V8 of Node 20 has relaxed SIMD complete, one version before it stopped being an experiment. */
const relaxedSimd = "experimental-wasm-relaxed-simd";
const hidesRelaxedSimd = process.versions.v8.startsWith("11.3.");

/** Compiles the first module that this V8 accepts. */
export function compileFirst(modules: readonly Uint8Array[]): object {
  if (hidesRelaxedSimd) setFlagsFromString(`--${relaxedSimd}`);
  try {
    const accepted = modules.find((bytes) => webAssembly.validate(bytes));
    if (accepted === undefined)
      throw new Error(`wasm: Node ${process.version} accepts no form of the kernels; it lacks SIMD`);
    return new webAssembly.Module(accepted);
  } finally {
    if (hidesRelaxedSimd) setFlagsFromString(`--no-${relaxedSimd}`);
  }
}
