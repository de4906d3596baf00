import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import util from "node:util";

const packageName = "@tensorflow/tfjs-node-gpu";
const remedy = "remedy: pnpm rebuild it with network access, or build its binding against an installed TensorFlow";

/**
 * Loads the native TensorFlow binding of the optional package `@tensorflow/tfjs-node-gpu`, which registers a backend
 * with tfjs-core. Throws one line that says what is missing, and the remedy.
 */
export function loadTensorflowBinding(resolveFrom: string | undefined): void {
  const folder = findPackage(resolveFrom);
  // Its own check comes after a second of loading everything else.
  if (!hasBinding(folder))
    throw new Error(`tensorflow: ${packageName} is installed without its native binding; ${remedy}`);
  // TensorFlow reads this when its library loads.
  process.env["TF_CPP_MIN_LOG_LEVEL"] ??= "2";
  restoreUtilChecks();
  const require = createRequire(import.meta.url);
  try {
    require(folder);
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new Error(`tensorflow: the native binding of ${packageName} does not load (${reason.trim()}); ${remedy}`, {
      cause: error,
    });
  }
}

/** Folder of the optional package; pnpm links it only where it is declared, which is the app's folder and not this one. */
function findPackage(resolveFrom: string | undefined): string {
  const script = process.argv[1];
  const folders = [resolveFrom, process.cwd(), script === undefined ? undefined : dirname(script), import.meta.dirname];
  for (const folder of folders) {
    if (folder === undefined) continue;
    const require = createRequire(join(resolve(folder), "package.json"));
    try {
      return dirname(require.resolve(`${packageName}/package.json`));
    } catch {
      // Not linked from there.
    }
  }
  throw new Error(`tensorflow: ${packageName} is not installed; remedy: pnpm add ${packageName}@4.22.0`);
}

function hasBinding(folder: string): boolean {
  const lib = join(folder, "lib");
  return existsSync(lib) && readdirSync(lib).some((version) => existsSync(join(lib, version, "tfjs_binding.node")));
}

/** The binding's JavaScript calls two checks that Node deprecates (a warning on each start) or, from 23 on, lacks. */
function restoreUtilChecks(): void {
  Object.assign(util, {
    isNullOrUndefined: (value: unknown) => value === null || value === undefined,
    isArray: (value: unknown) => Array.isArray(value),
  });
}
