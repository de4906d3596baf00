import type { DeviceValues } from "@dflash/engine";
import type { TensorflowContext } from "./tensorflowContext.ts";

/** Rows up to which turning the result takes less time than turning the weight, whatever its size. */
const fewRows = 64;

/** Values of a weight that is turned out of the cache, at several times the cost a value. */
const largeWeight = 2 ** 21;

/**
 * x·wᵀ. The CPU's product turns all of w before it begins, for x [R, H] and w [V, H] V·H values; (w·xᵀ)ᵀ turns nothing but
 * its result, R·V values. A single row is a product with a vector, and a GPU's product turns nothing.
 */
export function weightProduct(
  { transpose, product }: TensorflowContext,
  device: "cpu" | "gpu",
): (x: DeviceValues, w: DeviceValues) => DeviceValues {
  return (x, w) => {
    const [[rows = 0, width = 0], [words = 0]] = [x.shape, w.shape];
    const fewer = rows <= fewRows || (rows <= width && words * width >= largeWeight);
    return device === "cpu" && rows > 1 && fewer ? transpose(product(w, x, "B"), [1, 0]) : product(x, w, "B");
  };
}
