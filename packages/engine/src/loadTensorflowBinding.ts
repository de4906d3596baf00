import { createRequire } from "node:module";
import util from "node:util";
import {
  bindingRemedy,
  findTensorflowPackage,
  hasTensorflowBinding,
  tensorflowPackage,
} from "./findTensorflowPackage.ts";
import { settleTensorflow, type TensorflowSettings } from "./tensorflowEnvironment.ts";

/**
 * Loads the native TensorFlow binding of the optional package `@tensorflow/tfjs-node-gpu`, which registers a backend
 * with tfjs-core, and returns what it runs with. Throws one line that says what is missing, and the remedy.
 */
export function loadTensorflowBinding({
  resolveFrom,
  ...wanted
}: Partial<TensorflowSettings> & { gpu: boolean; resolveFrom?: string | undefined }): TensorflowSettings {
  const folder = findTensorflowPackage(resolveFrom);
  // Its own check comes after a second of loading everything else.
  if (!hasTensorflowBinding(folder)) throw new Error(`tensorflow: no native binding; ${bindingRemedy}`);
  const settings = settleTensorflow(wanted);
  restoreUtilChecks();
  const require = createRequire(import.meta.url);
  try {
    require(folder);
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new Error(
      `tensorflow: the native binding of ${tensorflowPackage} does not load (${reason.trim()}); ${bindingRemedy}`,
      { cause: error },
    );
  }
  return settings;
}

/** The binding's JavaScript calls two checks that Node deprecates (a warning on each start) or, from 23 on, lacks. */
function restoreUtilChecks(): void {
  Object.assign(util, {
    isNullOrUndefined: (value: unknown) => value === null || value === undefined,
    isArray: (value: unknown) => Array.isArray(value),
  });
}
