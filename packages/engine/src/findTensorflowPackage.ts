import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { findOptionalPackage } from "./findOptionalPackage.ts";

/** The optional package with TensorFlow's backend for tfjs. */
export const tensorflowPackage = "@tensorflow/tfjs-node-gpu";

/** How a missing or broken binding comes to be, and what for: measured on two cores, in docs/benchmarks/engines.md. */
export const bindingRemedy =
  "remedy, for steps 1.3 to 2 times as fast as wasm's: pnpm dflash engine install tensorflow";

/** Folder of the optional package. Throws one line with the remedy when there is none. */
export function findTensorflowPackage(resolveFrom: string | undefined): string {
  const found = findOptionalPackage(`${tensorflowPackage}/package.json`, resolveFrom);
  if (found === null)
    throw new Error(`tensorflow: ${tensorflowPackage} is not installed; remedy: pnpm add ${tensorflowPackage}@4.22.0`);
  return dirname(found);
}

/** Whether the package's native binding is there. */
export function hasTensorflowBinding(folder: string): boolean {
  const lib = join(folder, "lib");
  return existsSync(lib) && readdirSync(lib).some((version) => existsSync(join(lib, version, "tfjs_binding.node")));
}
