import type { RowRanges } from "@dflash/block-mask";
import type { AdamWState, Ops, Tensor } from "@dflash/ops";
import { languageModel as size, parameterShapes, parameterValues, trainingRows } from "./languageModelCase.ts";
import type { Step } from "./step.ts";

/** The test model of this benchmark on our ops: a Qwen3-style decoder with tied embeddings, trained on one batch. */
export function createLanguageModelStep(ops: Ops): Step {
  const { layers, heads, kvHeads, headDim, rows, length } = size;
  const tokens = rows * length;
  const parameters = new Map<string, Tensor>();
  for (const [name, shape] of parameterShapes()) {
    parameters.set(name, ops.upload(parameterValues(parameters.size, shape), shape));
  }
  const states = new Map<string, AdamWState>(
    [...parameters].map(([name, { shape }]) => [name, { mean: ops.zeros(shape), variance: ops.zeros(shape) }]),
  );

  const batch = trainingRows();
  const positions = Int32Array.from({ length: tokens }, (_, i) => i % length);
  const angles = Array.from({ length: length * (headDim / 2) }, (_, i) => {
    const [position, pair] = [Math.floor(i / (headDim / 2)), i % (headDim / 2)];
    return position * 10_000 ** ((-2 * pair) / headDim);
  });
  const table = {
    cos: ops.upload(Float32Array.from(angles, Math.cos), [length, headDim / 2]),
    sin: ops.upload(Float32Array.from(angles, Math.sin), [length, headDim / 2]),
  };
  const weights = new Float32Array(tokens).fill(1 / tokens);
  const weight = (name: string): Tensor => parameters.get(name)!;
  const epsilon = 1e-6;

  const block = (layer: number, x: Tensor, ranges: RowRanges): Tensor => {
    const w = (name: string): Tensor => weight(`${layer}.${name}`);
    const split = (y: Tensor, count: number): Tensor => ops.reshape(y, [tokens, count, headDim]);
    const a = ops.rmsNorm(x, w("inputNorm"), epsilon);
    const q = ops.rmsNorm(split(ops.linear(a, w("query")), heads), w("queryNorm"), epsilon);
    const k = ops.rmsNorm(split(ops.linear(a, w("key")), kvHeads), w("keyNorm"), epsilon);
    const v = split(ops.linear(a, w("value")), kvHeads);
    const y = ops.attention(ops.rotary(q, table, positions), ops.rotary(k, table, positions), v, ranges);
    const h = ops.add(x, ops.linear(ops.reshape(y, [tokens, heads * headDim]), w("output")));
    const b = ops.rmsNorm(h, w("postNorm"), epsilon);
    return ops.add(h, ops.linear(ops.swiglu(ops.linear(b, w("gate")), ops.linear(b, w("up"))), w("down")));
  };

  let count = 0;
  return {
    async run() {
      const { outputs, gradients } = ops.valueAndGrad([...parameters.values()], () => {
        let x = ops.embedding(weight("embed"), batch.ids);
        for (let layer = 0; layer < layers; layer++) x = block(layer, x, { ...batch.ranges });
        return ops.linearCrossEntropy(ops.rmsNorm(x, weight("norm"), epsilon), weight("embed"), batch.labels, weights);
      });
      count++;
      const options = { learningRate: 1e-4, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.1, step: count };
      [...parameters].forEach(([name, parameter], i) =>
        ops.adamW(parameter, gradients[i]!, states.get(name)!, options),
      );
      const [loss = NaN] = await outputs.loss.read();
      for (const tensor of [...gradients, ...Object.values(outputs)]) tensor.dispose();
      return loss;
    },
  };
}
