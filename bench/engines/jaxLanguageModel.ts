import { blockUntilReady, defaultDevice, init, jit, nn, numpy as np, tree, valueAndGrad } from "@jax-js/jax";
import { languageModel as size, parameterShapes, parameterValues, trainingRows } from "./languageModelCase.ts";
import type { Step } from "./step.ts";

// jax-js counts references: a function consumes its arguments, `.ref` keeps one for another use.
type Arrays = Record<string, np.Array>;

const { layers, heads, kvHeads, headDim, vocabulary, rows, length } = size;
const tokens = rows * length;

/** The test model of this benchmark on jax-js's WASM backend: the whole step, gradients and AdamW included, is one jitted function. */
export async function createJaxLanguageModelStep(): Promise<Step> {
  await init("wasm");
  defaultDevice("wasm");
  const step = jit(trainingStep);
  const data = constants();
  let parameters = initialParameters();
  let means = tree.map((value: np.Array) => np.zeros(value.shape), parameters);
  let variances = tree.map((value: np.Array) => np.zeros(value.shape), parameters);
  let count = 0;
  return {
    async run() {
      count++;
      const corrections = { mean: np.array(1 - 0.9 ** count), variance: np.array(1 - 0.95 ** count) };
      const results = await blockUntilReady(step(parameters, means, variances, corrections, tree.ref(data)));
      const [loss] = results;
      [, parameters, means, variances] = results;
      const [value = NaN] = await loss.data();
      return value;
    },
  };
}

function trainingStep(
  parameters: Arrays,
  means: Arrays,
  variances: Arrays,
  corrections: Arrays,
  data: Arrays,
): [np.Array, Arrays, Arrays, Arrays] {
  const [loss, gradients] = valueAndGrad(modelLoss)(tree.ref(parameters), data);
  const updated: [Arrays, Arrays, Arrays] = [{}, {}, {}];
  for (const [name, parameter] of Object.entries(parameters)) {
    const gradient = gradients[name]!;
    const mean = means[name]!.mul(0.9).add(gradient.ref.mul(1 - 0.9));
    const variance = variances[name]!.mul(0.95).add(np.square(gradient).mul(1 - 0.95));
    const scale = np.sqrt(variance.ref.div(corrections["variance"]!.ref)).add(1e-8);
    const change = mean.ref.div(corrections["mean"]!.ref).div(scale).mul(1e-4);
    updated[0][name] = parameter.mul(1 - 1e-4 * 0.1).sub(change);
    updated[1][name] = mean;
    updated[2][name] = variance;
  }
  tree.dispose(corrections);
  return [loss, ...updated];
}

/** Mean cross-entropy of the labels. */
function modelLoss(parameters: Arrays, data: Arrays): np.Array {
  const weight = (name: string): np.Array => parameters[name]!.ref;
  let x = np.take(weight("embed"), data["ids"]!.ref, 0);
  for (let layer = 0; layer < layers; layer++) x = block((name) => weight(`${layer}.${name}`), data, x);
  const logits = linear(rmsNorm(x, weight("norm")), weight("embed"));
  const labels = nn.oneHot(data["labels"]!.ref, vocabulary);
  const loss = nn
    .logSoftmax(logits)
    .mul(labels)
    .sum()
    .mul(-1 / tokens);
  tree.dispose(parameters);
  tree.dispose(data);
  return loss;
}

function block(weight: (name: string) => np.Array, data: Arrays, x: np.Array): np.Array {
  const split = (y: np.Array, count: number): np.Array => y.reshape([rows, length, count, headDim]);
  const rotate = (y: np.Array): np.Array => {
    const [a, b] = np.split(y, 2, -1);
    const [cos, sin] = [data["cos"]!, data["sin"]!];
    const first = a!.ref.mul(cos.ref).sub(b!.ref.mul(sin.ref));
    return np.concatenate([first, b!.mul(cos.ref).add(a!.mul(sin.ref))], -1);
  };
  const a = rmsNorm(x.ref, weight("inputNorm"));
  const q = rotate(rmsNorm(split(linear(a.ref, weight("query")), heads), weight("queryNorm")));
  const k = rotate(rmsNorm(split(linear(a.ref, weight("key")), kvHeads), weight("keyNorm")));
  const v = split(linear(a, weight("value")), kvHeads);
  const y = nn.dotProductAttention(q, k, v, { bias: data["bias"]!.ref });
  const h = x.add(linear(y.reshape([tokens, heads * headDim]), weight("output")));
  const b = rmsNorm(h.ref, weight("postNorm"));
  const gated = nn.silu(linear(b.ref, weight("gate"))).mul(linear(b, weight("up")));
  return h.add(linear(gated, weight("down")));
}

const linear = (x: np.Array, weight: np.Array): np.Array => np.matmul(x, weight.transpose());

function rmsNorm(x: np.Array, weight: np.Array): np.Array {
  const scale = np.sqrt(np.square(x.ref).mean(-1, { keepdims: true }).add(1e-6));
  return x.div(scale).mul(weight);
}

function initialParameters(): Arrays {
  const values = [...parameterShapes()].map(([name, shape], which) => {
    return [name, np.array(new Float32Array(parameterValues(which, shape)), { shape })] as const;
  });
  return Object.fromEntries(values);
}

/** The batch and the tables: all rows have the same mask, an addend of 0 where a query sees a key. */
function constants(): Arrays {
  const { ids, labels, ranges } = trainingRows();
  const sees = (query: number, key: number): boolean =>
    key >= ranges.bounds[4 * query]! && key < ranges.bounds[4 * query + 1]!;
  const bias = Float32Array.from({ length: length * length }, (_, i) =>
    sees(Math.floor(i / length), i % length) ? 0 : -1e30,
  );
  const pairs = headDim / 2;
  const angles = Array.from({ length: length * pairs }, (_, i) => {
    return Math.floor(i / pairs) * 10_000 ** ((-2 * (i % pairs)) / headDim);
  });
  return {
    ids: np.array(new Int32Array(ids)),
    labels: np.array(new Int32Array(labels)),
    bias: np.array(bias, { shape: [1, 1, length, length] }),
    cos: np.array(Float32Array.from(angles, Math.cos), { shape: [length, 1, pairs] }),
    sin: np.array(Float32Array.from(angles, Math.sin), { shape: [length, 1, pairs] }),
  };
}
