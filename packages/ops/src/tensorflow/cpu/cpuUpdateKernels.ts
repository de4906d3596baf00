import type { DeviceValues } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../../kernels.ts";
import type { TensorflowContext } from "../tensorflowContext.ts";

type UpdateKernels = Pick<
  Kernels<tf.Tensor>,
  "adamW" | "sumOfSquares" | "add" | "addInPlace" | "scale" | "scaleBy" | "scaleInPlace"
>;

/** An op a kernel. */
export function cpuUpdateKernels({ raw, single, assign, constant, op }: TensorflowContext): UpdateKernels {
  const sum = (...values: DeviceValues[]): DeviceValues => op("DflashAdd", values);
  const multiple = (factor: number) => (values: DeviceValues) =>
    op("DflashScale", [values, constant(factor, "float32")]);

  return {
    adamW(parameter, gradient, mean, variance, { learningRate, beta1, beta2, epsilon, weightDecay, step }) {
      const numbers = constant(
        [
          1 - learningRate * weightDecay,
          beta1,
          1 - beta1,
          beta2,
          1 - beta2,
          learningRate / (1 - beta1 ** step),
          1 / Math.sqrt(1 - beta2 ** step),
          epsilon,
        ],
        "float32",
      );
      const [p, g, m, v] = [parameter, gradient, mean, variance].map((tensor) => raw.values(tensor));
      const made = raw.run("DflashAdamW", [p!, g!, m!, v!, numbers], undefined, 3);
      for (const [i, tensor] of [parameter, mean, variance].entries()) raw.replace(tensor, made[i]!);
    },
    sumOfSquares: (x) => single([x], (values) => op("DflashSumOfSquares", [values])),
    add: (a, b) => single([a, b], sum),
    addInPlace: (a, b) => assign(a, [a, b], sum),
    scale: (x, factor) => single([x], multiple(factor)),
    scaleBy: (x, factor) => single([x, factor], (...values) => op("DflashScale", values)),
    scaleInPlace: (x, factor) => assign(x, [x], multiple(factor)),
  };
}
