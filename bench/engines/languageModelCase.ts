import type { RowRanges } from "@dflash/block-mask";

/** Sizes of the test model and its batch. */
export const languageModel = {
  layers: 4,
  hidden: 256,
  heads: 4,
  kvHeads: 2,
  headDim: 64,
  feedForward: 768,
  vocabulary: 4096,
  /** Rows of the batch, of `length` tokens each. */
  rows: 8,
  length: 256,
  /** Tokens of a block, within which attention is bidirectional. */
  block: 16,
} as const;

/** Shapes of the parameters by name, in the order of their numbers. */
export function parameterShapes(): Map<string, number[]> {
  const { layers, hidden, heads, kvHeads, headDim, feedForward, vocabulary } = languageModel;
  const shapes = new Map<string, number[]>([["embed", [vocabulary, hidden]]]);
  for (let layer = 0; layer < layers; layer++) {
    const add = (name: string, ...shape: number[]): void => void shapes.set(`${layer}.${name}`, shape);
    add("inputNorm", hidden);
    add("query", heads * headDim, hidden);
    add("key", kvHeads * headDim, hidden);
    add("value", kvHeads * headDim, hidden);
    add("output", hidden, heads * headDim);
    add("queryNorm", headDim);
    add("keyNorm", headDim);
    add("postNorm", hidden);
    add("gate", feedForward, hidden);
    add("up", feedForward, hidden);
    add("down", hidden, feedForward);
  }
  return shapes.set("norm", [hidden]);
}

/** A number in [0, 1) for each pair of integers; pytorch.py has the same. */
const fraction = (index: number, stream: number): number => {
  const value = Math.sin((index + 1) * 12.9898 + stream * 78.233) * 43_758.5453;
  return value - Math.floor(value);
};

/** Initial values of the parameter that is number `which`; norms are 1. */
export function parameterValues(which: number, shape: readonly number[]): Float32Array {
  const values = new Float32Array(shape.reduce((product, extent) => product * extent, 1));
  return shape.length === 1 ? values.fill(1) : values.map((_, i) => 0.07 * (fraction(i, which) - 0.5));
}

export interface TrainingRows {
  readonly ids: Int32Array;
  readonly labels: Int32Array;
  /** Causal by blocks, bidirectional in a block, two documents a row. */
  readonly ranges: RowRanges;
}

export function trainingRows(): TrainingRows {
  const { rows, length, vocabulary, block } = languageModel;
  const tokens = rows * length;
  const draw = (stream: number): Int32Array =>
    Int32Array.from({ length: tokens }, (_, i) => Math.floor(vocabulary * fraction(i, stream)));
  const bounds = new Int32Array(4 * tokens);
  for (let token = 0; token < tokens; token++) {
    const document = Math.floor(token / (length / 2)) * (length / 2);
    const end = (Math.floor(token / block) + 1) * block;
    bounds.set([document, end, end, end], 4 * token);
  }
  return { ids: draw(1000), labels: draw(1001), ranges: { queryLength: tokens, keyLength: tokens, bounds } };
}
