import { fileURLToPath } from "node:url";
import { openSafetensors, type Safetensors } from "@dflash/safetensors";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOps } from "./describeOps.test-support.ts";
import type { Ops } from "./ops.ts";
import type { Tensor } from "./tensor.ts";

/** What tools/parity/ops.py computed in PyTorch. */
const path = fileURLToPath(new URL("../../../tools/parity/ops.safetensors", import.meta.url));

interface OpUse {
  /** Names of the inputs that have gradients, in the order in which `run` takes them. */
  readonly inputs: readonly string[];
  /** Names of those that have none; they come behind the others. */
  readonly frozen?: readonly string[];
  readonly run: (ops: Ops, tensors: readonly Tensor[], integers: Int32Array, weights: Float32Array) => Tensor;
}

const attention: OpUse = {
  inputs: ["q", "k", "v"],
  run: (ops, [q, k, v], bounds) =>
    ops.attention(q!, k!, v!, { queryLength: q!.shape[0]!, keyLength: k!.shape[0]!, bounds }),
};

const uses: Readonly<Record<string, OpUse>> = {
  embedding: { inputs: ["table"], run: (ops, [table], ids) => ops.embedding(table!, ids) },
  rmsNorm: { inputs: ["x", "weight"], run: (ops, [x, weight]) => ops.rmsNorm(x!, weight!, 1e-6) },
  linear: { inputs: ["x", "weight", "bias"], run: (ops, [x, weight, bias]) => ops.linear(x!, weight!, bias) },
  swiglu: { inputs: ["gate", "up"], run: (ops, [gate, up]) => ops.swiglu(gate!, up!) },
  rotary: {
    inputs: ["x"],
    frozen: ["cos", "sin"],
    run: (ops, [x, cos, sin], positions) => ops.rotary(x!, { cos: cos!, sin: sin! }, positions),
  },
  "attention 1:1": attention,
  "attention 4:1": attention,
  "attention 8:1": attention,
  linearCrossEntropy: {
    inputs: ["x", "weight"],
    run: (ops, [x, weight], labels, weights) =>
      ops.linearCrossEntropy(x!, weight!, labels, weights, { chunkRows: 4 }).loss,
  },
  "linearCrossEntropy in tiles of the vocabulary": {
    inputs: ["x", "weight"],
    run: (ops, [x, weight], labels, weights) =>
      ops.linearCrossEntropy(x!, weight!, labels, weights, { chunkRows: 4, chunkVocabulary: 10 }).loss,
  },
};

/** The largest difference over the largest value. */
function difference(got: ArrayLike<number>, expected: Float32Array): number {
  expect(got).toHaveLength(expected.length);
  return Math.max(...expected.map((value, i) => Math.abs(value - got[i]!))) / Math.max(...expected.map(Math.abs));
}

describeOps((ops) => {
  let file: Safetensors;
  beforeAll(async () => void (file = await openSafetensors(path)));
  afterAll(async () => file.close());

  test.each(Object.keys(uses))("%s and its gradients are PyTorch's", async (name) => {
    const { inputs, frozen = [], run } = uses[name]!;
    const place = (tensor: string): string => `${name.split(" in ")[0]}/${tensor}`;
    const load = async (tensor: string): Promise<Tensor> =>
      ops().upload(await file.readFloat32(place(tensor)), file.tensors.get(place(tensor))!.shape);
    const tensors = await Promise.all([...inputs, ...frozen].map(load));
    const integers = file.tensors.has(place("integers")) ? await file.readInt32(place("integers")) : Int32Array.of();
    const weights = file.tensors.has(place("weights")) ? await file.readFloat32(place("weights")) : Float32Array.of();
    const dy = await load("dy");
    const recording = ops().record(tensors.slice(0, inputs.length), () => ({
      output: run(ops(), tensors, integers, weights),
    }));
    const gradients = recording.backward(dy);
    const results = [recording.outputs.output, ...gradients];
    for (const [i, tensor] of ["y", ...inputs.map((input) => `d${input}`)].entries()) {
      const error = difference(await results[i]!.read(), await file.readFloat32(place(tensor)));
      expect([tensor, error < 2e-5 || error]).toEqual([tensor, true]);
    }
    for (const tensor of [...tensors, ...results, dy]) tensor.dispose();
  });
});
