import type { DeviceValues } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "../kernels.ts";
import { headSoftmax } from "./headSoftmax.ts";
import type { TensorflowContext } from "./tensorflowContext.ts";

type CrossEntropyKernels = Pick<Kernels<tf.Tensor>, "linearCrossEntropy" | "argmax">;

const toInt32 = { output_type: { type: "int32" } } as const;

/**
 * With e = exp(z − max z) of a row's logits z, its sum s and its label t: CE = log s − (z_t − max z), and the gradient of
 * the logits is w·(e/s − onehot t). Neither the division nor the one-hot is carried out on rows × vocabulary: both move
 * behind the products, where they are rows × H.
 */
export function crossEntropyKernels(context: TensorflowContext): CrossEntropyKernels {
  const { kernel, single, part, drop, op, host, ints, constant, reshape, rows, concat, product } = context;
  const softmax = headSoftmax(context);
  const [axis0, axis1] = [constant(0, "int32"), constant(1, "int32")];
  const column = (values: Float32Array): DeviceValues => host(values, [values.length, 1]);

  /** Losses and predictions of some rows, and where needed their gradients without the one-hot's part. */
  const chunk = (
    x: DeviceValues,
    weight: DeviceValues,
    labels: Int32Array,
    weights: Float32Array,
    needs: { dx: boolean; dw: boolean },
  ): DeviceValues[] => {
    const [shifted, exponentials, sums] = softmax(x, weight);
    const places = host(labels.map((label, row) => row * weight.shape[0]! + label));
    const atLabels = op("GatherV2", [reshape(shifted, [-1]), places, axis0]);
    const results = [op("Sub", [reshape(op("Log", [sums]), [-1]), atLabels]), op("ArgMax", [shifted, axis1], toInt32)];
    const shares = op("Div", [column(weights), sums]);
    if (needs.dx) results.push(op("Mul", [product(exponentials, weight), shares]));
    if (needs.dw) results.push(product(exponentials, op("Mul", [x, shares]), "A"));
    return results;
  };

  return {
    linearCrossEntropy(x: tf.Tensor2D, weight: tf.Tensor2D, labels, weights, chunkRows, needs) {
      const [count, size] = x.shape;
      // A row of weight 0 may have any label.
      const counted = labels.map((label, row) => (weights[row] === 0 ? 0 : label));
      const [loss, rowLosses, predictions, ...gradients] = kernel([x, weight], (values, w) => {
        const [losses, predicted, dxs]: [DeviceValues[], DeviceValues[], DeviceValues[]] = [[], [], []];
        let softmaxDw: DeviceValues | null = null;
        for (let start = 0; start < count; start += chunkRows) {
          const end = Math.min(start + chunkRows, count);
          const inputs = count <= chunkRows ? values : rows(values, start, end);
          const made = part(() => chunk(inputs, w, counted.slice(start, end), weights.slice(start, end), needs));
          losses.push(made.shift()!);
          predicted.push(made.shift()!);
          if (needs.dx) dxs.push(made.shift()!);
          if (needs.dw) softmaxDw = softmaxDw === null ? made.shift()! : sum(softmaxDw, made.shift()!);
        }

        const rowWeights = column(weights.slice());
        const kept = host(weights.map((rowWeight) => (rowWeight === 0 ? 0 : 1)));
        const all = op("Mul", [concat(losses, 0), kept]);
        const results = [
          op("Sum", [op("Mul", [all, host(weights.slice())]), axis0]),
          all,
          concat(predicted, 0, "int32"),
        ];
        if (needs.dx) {
          const ofLabels = op("GatherV2", [w, host(counted), axis0]);
          results.push(op("Sub", [concat(dxs, 0), op("Mul", [ofLabels, rowWeights])]));
        }
        if (needs.dw) {
          const weighted = op("Mul", [values, rowWeights]);
          const ofLabels = op("ScatterNd", [host(counted, [count, 1]), weighted, ints(weight.shape[0], size)]);
          results.push(op("Sub", [softmaxDw!, ofLabels]));
        }
        return results;
      });
      return {
        loss: loss!,
        rowLosses: rowLosses!,
        predictions: predictions!,
        dx: needs.dx ? gradients.shift()! : null,
        dw: needs.dw ? gradients.shift()! : null,
      };
    },

    argmax: (x) => single([x], (values) => op("ArgMax", [values, constant(x.rank - 1, "int32")], toInt32)),
  };

  /** a + b, which are used up. */
  function sum(a: DeviceValues, b: DeviceValues): DeviceValues {
    const added = op("AddV2", [a, b]);
    drop(a);
    drop(b);
    return added;
  }
}
