import { causalRowRanges, dflashRowRanges } from "@dflash/block-mask";
import type { Ops, Tensor } from "@dflash/ops";

/** One op at a shape of the default step, forward and backward. */
export interface OpCase {
  readonly name: string;
  /** Shapes of the inputs. */
  readonly shapes: readonly (readonly number[])[];
  readonly run: (ops: Ops, inputs: Tensor[]) => void;
}

const [slots, tokens] = [512, 240];
const [hidden, inner, vocabulary, heads, kvHeads, headDim] = [256, 768, 4096, 8, 4, 32];

/** Two rows of 120 tokens with 32 blocks of 8 each. */
const starts = Int32Array.from({ length: 64 }, (_, block) => (block < 32 ? 0 : 120));
const blocks = dflashRowRanges({
  anchors: starts.map((start, block) => start + 3 * (block % 32) + 10),
  contextStarts: starts,
  blockSize: 8,
  contextLength: tokens,
});
const causal = causalRowRanges({ rowStarts: Int32Array.of(0, 120, tokens) });
const rows = Int32Array.from({ length: 448 }, (_, row) => row + Math.floor(row / 7) + 1);

/** Gradients of all inputs; the first value of the op's output stands for a loss, so that little else is timed. */
const differentiated =
  (op: (ops: Ops, inputs: Tensor[]) => Tensor): OpCase["run"] =>
  (ops, inputs) => {
    const { outputs, gradients } = ops.valueAndGrad(inputs, () => {
      const y = op(ops, inputs);
      const size = y.shape.reduce((product, extent) => product * extent, 1);
      return { loss: ops.reshape(ops.slice(ops.reshape(y, [size]), 0, 1), []) };
    });
    for (const tensor of [outputs.loss, ...gradients]) tensor.dispose();
  };

const lossOfFrozenHead: OpCase["run"] = (ops, [x, head]) => {
  const [labels, weights] = [new Int32Array(rows.length).fill(1), new Float32Array(rows.length).fill(1 / rows.length)];
  const { outputs, gradients } = ops.valueAndGrad([x!], () => ops.linearCrossEntropy(x!, head!, labels, weights));
  for (const tensor of [...Object.values(outputs), ...gradients]) tensor.dispose();
};

const distillation: OpCase["run"] = (ops, [x, teacher, head]) => {
  const weights = new Float32Array(rows.length).fill(1 / rows.length);
  const { outputs, gradients } = ops.valueAndGrad([x!], () => ops.linearDistillation(x!, teacher!, head!, weights));
  for (const tensor of [...Object.values(outputs), ...gradients]) tensor.dispose();
};

const update: OpCase["run"] = (ops, [parameter, gradient, mean, variance]) => {
  const options = { learningRate: 1e-4, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, step: 1 };
  ops.adamW(parameter!, gradient!, { mean: mean!, variance: variance! }, options);
};

const attention = (queries: number, keys: number): number[][] => [
  [queries, heads, headDim],
  [keys, kvHeads, headDim],
  [keys, kvHeads, headDim],
];

export const opCases: readonly OpCase[] = [
  {
    name: `linear, ${slots} × ${hidden} → ${inner}`,
    shapes: [
      [slots, hidden],
      [inner, hidden],
    ],
    run: differentiated((ops, [x, weight]) => ops.linear(x!, weight!)),
  },
  {
    name: `attention, 64 blocks of 8 on ${tokens} tokens`,
    shapes: attention(slots, tokens + slots),
    run: differentiated((ops, [q, k, v]) => ops.attention(q!, k!, v!, blocks)),
  },
  {
    name: `attention, causal, 2 × ${tokens / 2} tokens`,
    shapes: attention(tokens, tokens),
    run: differentiated((ops, [q, k, v]) => ops.attention(q!, k!, v!, causal)),
  },
  {
    name: `linearCrossEntropy, ${rows.length} rows, ${vocabulary} words, frozen head`,
    shapes: [
      [rows.length, hidden],
      [vocabulary, hidden],
    ],
    run: lossOfFrozenHead,
  },
  {
    name: `linearDistillation, ${rows.length} rows, ${vocabulary} words, frozen head`,
    shapes: [
      [rows.length, hidden],
      [rows.length, hidden],
      [vocabulary, hidden],
    ],
    run: distillation,
  },
  {
    name: `rmsNorm, ${slots} × ${hidden}`,
    shapes: [[slots, hidden], [hidden]],
    run: differentiated((ops, [x, weight]) => ops.rmsNorm(x!, weight!, 1e-6)),
  },
  {
    name: `swiglu, ${slots} × ${inner}`,
    shapes: [
      [slots, inner],
      [slots, inner],
    ],
    run: differentiated((ops, [gate, up]) => ops.swiglu(gate!, up!)),
  },
  {
    name: `gather, ${rows.length} of ${slots} rows`,
    shapes: [[slots, hidden]],
    run: differentiated((ops, [x]) => ops.gather(x!, rows)),
  },
  {
    name: "adamW, 2 M parameters",
    shapes: Array.from({ length: 4 }, () => [2 * 2 ** 20]),
    run: update,
  },
];
