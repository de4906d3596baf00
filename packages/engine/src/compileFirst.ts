import { setFlagsFromString } from "node:v8";
import { webAssembly } from "./webAssembly.ts";

/** V8 of Node 20 has relaxed SIMD complete, one version before it stopped being an experiment. */
const relaxedSimd = "experimental-wasm-relaxed-simd";
const hidesRelaxedSimd = process.versions.v8.startsWith("11.3.");

/** Compiles the first module that this V8 accepts; they import a shared memory, or a plain one unless `shared`. */
export function compileFirst(modules: readonly Uint8Array[], shared: boolean): object {
  if (hidesRelaxedSimd) setFlagsFromString(`--${relaxedSimd}`);
  try {
    const accepted = modules.find((bytes) => webAssembly.validate(bytes));
    if (accepted === undefined) {
      throw new Error(`wasm: Node ${process.version} accepts no form of the kernels; it lacks SIMD or threads`);
    }
    return new webAssembly.Module(shared ? accepted : unshared(accepted));
  } finally {
    if (hidesRelaxedSimd) setFlagsFromString(`--no-${relaxedSimd}`);
  }
}

/** The module with its import of a shared memory turned into one of a plain memory: a flag of the import's limits. */
function unshared(module: Uint8Array): Uint8Array {
  const [memoryImport, sharedBounded, bounded] = [2, 3, 1];
  const name = new TextEncoder().encode("memory");
  const at = module.findIndex((_, i) => name.every((byte, j) => module[i + j] === byte)) + name.length;
  if (module[at] !== memoryImport || module[at + 1] !== sharedBounded) {
    throw new Error("wasm: the kernels import no shared memory");
  }
  return module.with(at + 1, bounded);
}
