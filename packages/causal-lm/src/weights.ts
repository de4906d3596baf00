import { join } from "node:path";
import type { Ops, Tensor } from "@dflash/ops";
import { openCheckpoint, readFinite, type Safetensors } from "@dflash/safetensors";
import { checkFits } from "./checkFits.ts";
import { parameterBytes, type ParameterShapes } from "./parameterShapes.ts";

/** Weights of a model folder, put on the engine one at a time, so that the host holds no more than one of them. */
export interface Weights {
  /** Loads one of the weights whose shapes are known. */
  load(name: string): Promise<Tensor>;
  /** Frees every tensor loaded. */
  dispose(): void;
}

/**
 * Checks that the weights in `dir` have these shapes and fit the engine, then runs `load` with them and closes the files;
 * frees what it loaded when it fails.
 *
 * @throws {Error} One line with the folder, the tensor or the bytes, and what was expected.
 */
export async function withWeights<T>(
  dir: string,
  shapes: ParameterShapes,
  ops: Ops,
  load: (weights: Weights) => Promise<T>,
): Promise<T> {
  const checkpoint = await openCheckpoint(dir);
  const loaded: Tensor[] = [];
  const weights: Weights = {
    async load(name) {
      const values = await readFinite(checkpoint, name, "download or convert the model again");
      const tensor = ops.upload(values, shapes.get(name) ?? [], { frozen: true });
      loaded.push(tensor);
      return tensor;
    },
    dispose: () => loaded.forEach((tensor) => tensor.dispose()),
  };
  try {
    checkShapes(dir, checkpoint, shapes);
    checkFits(ops.engine, dir, parameterBytes(shapes));
    return await load(weights);
  } catch (error) {
    weights.dispose();
    throw error;
  } finally {
    await checkpoint.close();
  }
}

function checkShapes(dir: string, { tensors }: Safetensors, shapes: ParameterShapes): void {
  for (const [name, shape] of shapes) {
    const found = tensors.get(name);
    if (!found) throw new Error(`${dir}: tensor ${name} is missing, expected shape [${shape.join(", ")}]`);
    if (found.shape.join() !== shape.join()) {
      throw new Error(
        `${dir}: tensor ${name} has shape [${found.shape.join(", ")}], expected [${shape.join(", ")}] by ${join(dir, "config.json")}`,
      );
    }
  }
}
