import type { DeviceValues } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { headSoftmax } from "./headSoftmax.ts";
import type { TensorflowContext } from "./tensorflowContext.ts";

type DistillationKernels = Pick<Kernels<tf.Tensor>, "linearDistillation">;

const toInt32 = { output_type: { type: "int32" } } as const;

/**
 * With z and e = exp(z − max z) of a row's logits, s their sum, and z′, e′, s′ the teacher's, shifted likewise:
 * KL = Σ e′·(z′ − z) / s′ + log(s / s′), and the gradient of the logits is w·(e/s − e′/s′) = w/s′·(e·s′/s − e′), whose
 * factor moves behind the product. TensorFlow's own SoftmaxCrossEntropyWithLogits takes longer than all these passes.
 */
export function distillationKernels(context: TensorflowContext): DistillationKernels {
  const { kernel, part, op, host, constant, reshape, rows, concat, product } = context;
  const softmax = headSoftmax(context);
  const [axis0, axis1] = [constant(0, "int32"), constant(1, "int32")];

  /** Losses and predictions of some rows, and where needed their gradient. */
  const chunk = (
    x: DeviceValues,
    teacher: DeviceValues,
    weight: DeviceValues,
    weights: Float32Array,
    needsDx: boolean,
  ): DeviceValues[] => {
    const [own, exponentials, sums] = softmax(x, weight);
    const [taught, taughtExponentials, taughtSums] = softmax(teacher, weight);
    const gaps = op("Sum", [op("Mul", [taughtExponentials, op("Sub", [taught, own])]), axis1], { keep_dims: true });
    const losses = op("AddV2", [op("Div", [gaps, taughtSums]), op("Log", [op("Div", [sums, taughtSums])])]);
    const results = [reshape(losses, [-1]), op("ArgMax", [own, axis1], toInt32)];
    if (!needsDx) return results;
    const slopes = op("Sub", [op("Mul", [exponentials, op("Div", [taughtSums, sums])]), taughtExponentials]);
    const factors = op("Div", [host(weights, [weights.length, 1]), taughtSums]);
    return [...results, op("Mul", [product(slopes, weight), factors])];
  };

  return {
    linearDistillation(x: tf.Tensor2D, teacher, weight, weights, chunkRows, needs) {
      const [count] = x.shape;
      const [loss, rowLosses, predictions, dx] = kernel([x, teacher, weight], (own, taught, w) => {
        const [losses, predicted, dxs]: [DeviceValues[], DeviceValues[], DeviceValues[]] = [[], [], []];
        for (let start = 0; start < count; start += chunkRows) {
          const end = Math.min(start + chunkRows, count);
          const [inputs, targets] =
            count <= chunkRows ? [own, taught] : [rows(own, start, end), rows(taught, start, end)];
          const made = part(() => chunk(inputs, targets, w, weights.slice(start, end), needs.dx));
          losses.push(made.shift()!);
          predicted.push(made.shift()!);
          if (needs.dx) dxs.push(made.shift()!);
        }
        const kept = host(weights.map((rowWeight) => (rowWeight === 0 ? 0 : 1)));
        const all = op("Mul", [concat(losses, 0), kept]);
        const total = op("Sum", [op("Mul", [all, host(weights.slice())]), axis0]);
        const results = [total, all, concat(predicted, 0, "int32")];
        return needs.dx ? [...results, concat(dxs, 0)] : results;
      });
      return { loss: loss!, rowLosses: rowLosses!, predictions: predictions!, dx: dx ?? null };
    },
  };
}
