import type { Ops, Tensor } from "@dflash/ops";
import type { WeightSource } from "./randomWeights.ts";

/** Puts a drafter's parameters on the engine. @throws {Error} When the source gives a parameter the wrong number of values. */
export async function uploadParameters(
  ops: Ops,
  shapes: ReadonlyMap<string, readonly number[]>,
  weights: WeightSource,
): Promise<Map<string, Tensor>> {
  const parameters = new Map<string, Tensor>();
  try {
    for (const [name, shape] of shapes) {
      const values = await weights(name, shape);
      const size = shape.reduce((product, extent) => product * extent, 1);
      if (values.length !== size) {
        throw new Error(
          `drafter: ${name} has ${values.length} values, expected ${size} for shape [${shape.join(", ")}]`,
        );
      }
      parameters.set(name, ops.upload(values, shape));
    }
    return parameters;
  } catch (error) {
    for (const tensor of parameters.values()) tensor.dispose();
    throw error;
  }
}
