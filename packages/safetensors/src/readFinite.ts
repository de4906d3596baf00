import { firstNonFinite } from "./firstNonFinite.ts";
import type { Safetensors } from "./openSafetensors.ts";

/**
 * Reads a tensor of weights as float32, which no NaN and no infinity may be among.
 *
 * @throws {Error} One line: the file, the tensor, the element and its value, and the way out, which is `remedy`.
 */
export async function readFinite(checkpoint: Safetensors, name: string, remedy: string): Promise<Float32Array> {
  const values = await checkpoint.readFloat32(name);
  const broken = firstNonFinite(values);
  if (broken < 0) return values;
  throw new Error(
    `${checkpoint.tensors.get(name)!.file}: tensor ${name} holds ${values[broken]} at element ${broken}, expected finite numbers; ${remedy}`,
  );
}
