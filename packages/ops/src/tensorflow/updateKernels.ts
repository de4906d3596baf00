import type { DeviceValues } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import type { TensorflowContext } from "./tensorflowContext.ts";

type UpdateKernels = Pick<
  Kernels<tf.Tensor>,
  "adamW" | "sumOfSquares" | "scale" | "scaleBy" | "scaleInPlace" | "scaleRowsInPlace" | "addInPlace" | "writeRows"
>;

const floats = { dtype: { type: "float32" } } as const;

export function updateKernels(context: TensorflowContext): UpdateKernels {
  const { raw, kernel, single, assign, op, host, constant } = context;
  const variables = [raw.variable(), raw.variable(), raw.variable()] as const;
  const float = (value: number): DeviceValues => constant(value, "float32");

  return {
    // ResourceApplyAdam changes variables in place, in one pass, where nothing else holds their memory: so the values move
    // into variables and back. Its ε stands beside √v, PyTorch's beside √(v/(1 − β₂ᵗ)).
    adamW(parameter, gradient, mean, variance, { learningRate, beta1, beta2, epsilon, weightDecay, step }) {
      const tensors = [parameter, mean, variance];
      kernel([gradient], (g) => {
        const powers = [float(beta1 ** step), float(beta2 ** step)];
        const rates = [float(learningRate), float(beta1), float(beta2), float(epsilon * Math.sqrt(1 - beta2 ** step))];
        const decay = float(1 - learningRate * weightDecay);
        if (weightDecay !== 0) assign(parameter, [parameter], (values) => op("Mul", [values, decay]));
        for (const [i, variable] of variables.entries()) {
          raw.run("AssignVariableOp", [variable, raw.values(tensors[i]!)], floats, 0);
          raw.release(tensors[i]!);
        }
        try {
          raw.run("ResourceApplyAdam", [...variables, ...powers, ...rates, g], undefined, 0);
        } finally {
          for (const [i, variable] of variables.entries())
            raw.replace(tensors[i]!, raw.run("ReadVariableOp", [variable], floats)[0]!);
        }
        return [];
      });
    },
    // L2Loss is half of it, in one pass.
    sumOfSquares: (x) => single([x], (values) => op("Mul", [op("L2Loss", [values]), float(2)])),
    scale: (x, factor) => single([x], (values) => op("Mul", [values, float(factor)])),
    scaleBy: (x, factor) => single([x, factor], (values, by) => op("Mul", [values, by])),
    scaleInPlace: (x, factor) => assign(x, [x], (values) => op("Mul", [values, float(factor)])),
    scaleRowsInPlace: (x, factors) =>
      assign(x, [x], (values) => {
        const column = [factors.length, ...x.shape.slice(1).map(() => 1)];
        return op("Mul", [values, host(factors.slice(), column)]);
      }),
    // Its result is the same memory again.
    writeRows(x, rows, values) {
      kernel([x, values], (target, source) => {
        op("InplaceUpdate", [target, host(rows.slice()), source]);
        return [];
      });
    },
    addInPlace: (a, b) => assign(a, [a, b], (values, addend) => op("AddV2", [values, addend])),
  };
}
