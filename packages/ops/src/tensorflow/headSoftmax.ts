import type { DeviceValues } from "@dflash/engine";
import type { TensorflowContext } from "./tensorflowContext.ts";

const keepDims = { keep_dims: true };

/** Of logits z = x·wᵀ: z − max z of each row, e to the power of that, and the rows' sums of it, [R, 1]. */
export type HeadSoftmax = [shifted: DeviceValues, exponentials: DeviceValues, sums: DeviceValues];

/** A softmax of a head's logits short of its division, which can wait until there are fewer values. */
export function headSoftmax({
  part,
  op,
  constant,
  product,
}: TensorflowContext): (x: DeviceValues, w: DeviceValues) => HeadSoftmax {
  const axis = constant(1, "int32");
  return (x, w) =>
    part(() => {
      const logits = product(x, w, "B");
      const shifted = op("Sub", [logits, op("Max", [logits, axis], keepDims)]);
      const exponentials = op("Exp", [shifted]);
      return [shifted, exponentials, op("Sum", [exponentials, axis], keepDims)];
    });
}
