import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

/** The optional package with TensorFlow's backend for tfjs. */
export const tensorflowPackage = "@tensorflow/tfjs-node-gpu";

/** How a missing or broken binding comes to be. */
export const bindingRemedy: string =
  "remedy: `dflash engine install tensorflow`, which builds it, or pnpm rebuild the package with network access";

/**
 * Folder of the optional package; pnpm links it only where it is declared, which is the app's folder and not this one.
 * Throws one line with the remedy when there is none.
 */
export function findTensorflowPackage(resolveFrom: string | undefined): string {
  const script = process.argv[1];
  const folders = [resolveFrom, process.cwd(), script === undefined ? undefined : dirname(script), import.meta.dirname];
  for (const folder of folders) {
    if (folder === undefined) continue;
    const require = createRequire(join(resolve(folder), "package.json"));
    try {
      return dirname(require.resolve(`${tensorflowPackage}/package.json`));
    } catch {
      // Not linked from there.
    }
  }
  throw new Error(`tensorflow: ${tensorflowPackage} is not installed; remedy: pnpm add ${tensorflowPackage}@4.22.0`);
}

/** Whether the package's native binding is there. */
export function hasTensorflowBinding(folder: string): boolean {
  const lib = join(folder, "lib");
  return existsSync(lib) && readdirSync(lib).some((version) => existsSync(join(lib, version, "tfjs_binding.node")));
}
