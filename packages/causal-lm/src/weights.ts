import { join } from "node:path";
import type { Ops, Tensor } from "@dflash/ops";
import { openCheckpoint } from "@dflash/safetensors";

/** Weights of a model folder, put on the engine one at a time, so that the host holds no more than one of them. */
export interface Weights {
  /** @throws {Error} One line with the folder and the tensor when it's missing or has another shape. */
  load(name: string, shape: readonly number[]): Promise<Tensor>;
  /** Frees every tensor loaded. */
  dispose(): void;
}

/** Opens the weights in `dir`, runs `load` with them and closes the files; frees what it loaded when it fails. */
export async function withWeights<T>(dir: string, ops: Ops, load: (weights: Weights) => Promise<T>): Promise<T> {
  const checkpoint = await openCheckpoint(dir);
  const loaded: Tensor[] = [];
  const weights: Weights = {
    async load(name, shape) {
      const found = checkpoint.tensors.get(name);
      if (!found) throw new Error(`${dir}: tensor ${name} is missing, expected shape [${shape.join(", ")}]`);
      if (found.shape.join() !== shape.join()) {
        throw new Error(
          `${dir}: tensor ${name} has shape [${found.shape.join(", ")}], expected [${shape.join(", ")}] by ${join(dir, "config.json")}`,
        );
      }
      const tensor = ops.upload(await checkpoint.readFloat32(name), shape, { frozen: true });
      loaded.push(tensor);
      return tensor;
    },
    dispose: () => loaded.forEach((tensor) => tensor.dispose()),
  };
  try {
    return await load(weights);
  } catch (error) {
    weights.dispose();
    throw error;
  } finally {
    await checkpoint.close();
  }
}
