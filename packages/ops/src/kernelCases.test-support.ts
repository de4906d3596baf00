import { causalRowRanges, dflashRowRanges, type RowRanges } from "@dflash/block-mask";
import type * as tf from "@tensorflow/tfjs-core";
import * as fc from "fast-check";
import type { Kernels } from "./kernels.ts";
import { randomValues } from "./opMismatch.test-support.ts";

type TensorKernels = Kernels<tf.Tensor>;

/** Makes a tensor of new random values; the same seed gives the same sequence of tensors. */
export type MakeTensor = (...shape: number[]) => tf.Tensor;

/** What to run; returns every tensor whose values matter. */
export type KernelUse = (kernels: TensorKernels, make: MakeTensor) => (tf.Tensor | null)[];

/** A use of some kernels on random inputs of random shapes. */
export interface KernelCase {
  readonly name: string;
  /** Drawn at random. */
  readonly use: fc.Arbitrary<KernelUse>;
}

/** Values of all results of a use on tensors from a seed; leaves no tensor behind. */
export async function valuesOf(
  kernels: TensorKernels,
  use: KernelUse,
  seed: number,
): Promise<(Float32Array | Int32Array)[]> {
  const { make, made } = tensorMaker(kernels, seed);
  const results = use(kernels, make).filter((tensor) => tensor !== null);
  const values = await Promise.all(results.map((tensor) => kernels.read(tensor)));
  for (const tensor of [...results, ...made]) tensor.dispose();
  return values;
}

/** Tensors from a seed, and those made so far. */
function tensorMaker(kernels: TensorKernels, seed: number): { make: MakeTensor; made: tf.Tensor[] } {
  const made: tf.Tensor[] = [];
  const make: MakeTensor = (...shape) => {
    const size = shape.reduce((product, extent) => product * extent, 1);
    const tensor = kernels.upload(randomValues(size, seed + made.length), shape, false);
    made.push(tensor);
    return tensor;
  };
  return { make, made };
}

const seeded = (size: number, below: number, seed: number): Int32Array =>
  Int32Array.from(randomValues(size, seed), (value) => Math.floor(((value + 1) / 2) * below));

/** Extents around those that the kernels' tiles have: 4, 8 and 64. */
const extent = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 56, max: 76 }));
const seed = fc.nat(1000);
const every = { dx: true, dw: true, db: true };

const anyRanges = fc
  .record({ queries: fc.integer({ min: 1, max: 40 }), keys: fc.integer({ min: 1, max: 90 }), seed })
  .map(({ queries, keys, seed: from }): RowRanges => {
    const bounds = seeded(4 * queries, keys + 1, from);
    for (let row = 0; row < queries; row++) bounds.subarray(4 * row, 4 * row + 4).sort();
    // Some rows see one interval, some none.
    for (let row = 0; row < queries; row += 3) bounds.fill(keys, 4 * row + (row % 2 === 0 ? 0 : 2), 4 * row + 4);
    return { queryLength: queries, keyLength: keys, bounds };
  });

const causalRanges = fc
  .record({
    rows: fc.array(fc.integer({ min: 0, max: 90 }), { minLength: 1, maxLength: 4 }),
    window: fc.integer({ min: 1, max: 99 }),
  })
  .map(({ rows, window }) => {
    const rowStarts = Int32Array.of(
      0,
      ...rows.map((_, row) => rows.slice(0, row + 1).reduce((sum, length) => sum + length, 0)),
    );
    return causalRowRanges({ rowStarts, ...(window > 90 ? {} : { slidingWindow: window }) });
  })
  .filter(({ queryLength }) => queryLength > 0);

const dflashRanges = fc
  .record({
    context: fc.integer({ min: 1, max: 120 }),
    blocks: fc.integer({ min: 1, max: 12 }),
    blockSize: fc.integer({ min: 1, max: 9 }),
    seed,
  })
  .map(({ context, blocks, blockSize, seed: from }) => {
    const anchors = seeded(blocks, context + 1, from).toSorted();
    const keep = Uint8Array.from(anchors, (anchor) => Number(anchor % 5 > 0));
    return dflashRowRanges({
      anchors,
      keep,
      blockSize,
      contextLength: context,
      contextStarts: anchors.map((anchor) => anchor >> 1),
    });
  });

const attention: KernelCase["use"] = fc
  .record({
    ranges: fc.oneof(anyRanges, causalRanges, dflashRanges),
    groups: fc.integer({ min: 1, max: 3 }),
    perGroup: fc.constantFrom(1, 2, 8),
    size: fc.constantFrom(1, 4, 6, 32),
  })
  .map(({ ranges, groups, perGroup, size }) => (kernels, make) => {
    const [q, k, v] = [
      make(ranges.queryLength, groups * perGroup, size),
      make(ranges.keyLength, groups, size),
      make(ranges.keyLength, groups, size),
    ];
    const { y, saved } = kernels.attention(q, k, v, ranges, 0.7);
    const { dq, dk, dv } = kernels.attentionBackward(q, k, v, y, saved, make(...q.shape), ranges, 0.7);
    for (const tensor of saved) tensor.dispose();
    return [y, dq, dk, dv];
  });

const linear: KernelCase["use"] = fc
  .record({ rows: extent, inputs: extent, outputs: extent, bias: fc.boolean() })
  .map(({ rows, inputs, outputs, bias }) => (kernels, make) => {
    const [x, weight] = [make(rows, inputs), make(outputs, inputs)];
    const y = kernels.linear(x, weight, bias ? make(outputs) : null);
    const { dx, dw, db } = kernels.linearBackward(x, weight, make(rows, outputs), every);
    return [y, dx, dw, db];
  });

const deepLinear: KernelCase["use"] = fc.integer({ min: 500, max: 1100 }).map((inputs) => (kernels, make) => {
  const [x, weight] = [make(9, inputs), make(11, inputs)];
  return [kernels.linear(x, weight, null)];
});

const splitLinear: KernelCase["use"] = fc
  .record({ rows: extent, inputs: fc.array(extent, { minLength: 1, maxLength: 4 }), outputs: extent })
  .map(({ rows, inputs, outputs }) => (kernels, make) => {
    const xs = inputs.map((size) => make(rows, size));
    const weight = make(
      outputs,
      inputs.reduce((sum, size) => sum + size, 0),
    );
    const needs = { dxs: inputs.map((_, i) => i !== 1), dw: true };
    const { dxs, dw } = kernels.splitLinearBackward(xs, weight, make(rows, outputs), needs);
    return [kernels.splitLinear(xs, weight), ...dxs, dw];
  });

const rmsNorm: KernelCase["use"] = fc
  .record({ rows: extent, heads: fc.integer({ min: 1, max: 3 }), width: extent })
  .map(({ rows, heads, width }) => (kernels, make) => {
    const [x, weight] = [make(rows, heads, width), make(width)];
    const { y, inverseRms } = kernels.rmsNorm(x, weight, 1e-6);
    const { dx, dw } = kernels.rmsNormBackward(x, weight, inverseRms, make(...x.shape), every);
    return [y, inverseRms, dx, dw];
  });

const swiglu: KernelCase["use"] = fc
  .record({ rows: extent, width: fc.integer({ min: 1, max: 600 }) })
  .map(({ rows, width }) => (kernels, make) => {
    const [gate, up] = [kernels.scale(make(rows, width), 12), make(rows, width)];
    const { y, saved } = kernels.swiglu(gate, up);
    const { dGate, dUp } = kernels.swigluBackward(gate, up, saved, make(rows, width));
    for (const tensor of [gate, ...saved]) tensor.dispose();
    return [y, dGate, dUp];
  });

/** What a loss over a vocabulary is taken of, and in what chunks. */
const losses = {
  rows: extent,
  size: extent,
  vocabulary: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 300 })),
  chunkRows: extent,
  seed,
};

const crossEntropy: KernelCase["use"] = fc
  .record(losses)
  .map(({ rows, size, vocabulary, chunkRows, seed: from }) => (kernels, make) => {
    const labels = seeded(rows, vocabulary, from);
    const weights = randomValues(rows, from).map((value) => Math.max(0, value));
    // A row of weight 0 may have any label.
    labels.forEach((label, row) => (labels[row] = weights[row] === 0 ? -100 : label));
    const result = kernels.linearCrossEntropy(
      make(rows, size),
      make(vocabulary, size),
      labels,
      weights,
      chunkRows,
      every,
    );
    return [result.loss, result.rowLosses, result.predictions, result.dx, result.dw];
  });

const distillation: KernelCase["use"] = fc
  .record({ ...losses, sharpness: fc.constantFrom(1, 30), needed: fc.boolean() })
  .map(({ rows, size, vocabulary, chunkRows, sharpness, needed, seed: from }) => (kernels, make) => {
    const weights = randomValues(rows, from).map((value) => Math.max(0, value));
    const teacher = kernels.scale(make(rows, size), sharpness);
    const weight = make(vocabulary, size);
    const result = kernels.linearDistillation(make(rows, size), teacher, weight, weights, chunkRows, { dx: needed });
    teacher.dispose();
    return [result.loss, result.rowLosses, result.predictions, result.dx];
  });

const rows: KernelCase["use"] = fc
  .record({ rows: extent, width: extent, count: extent, seed })
  .map(({ rows: length, width, count, seed: from }) => (kernels, make) => {
    const indices = seeded(count, length, from);
    const [x, dy] = [make(length, 2, width), make(count, 2, width)];
    const start = from % (length + 1);
    return [
      kernels.gather(x, indices),
      kernels.embedding(x, indices),
      kernels.scatterAdd(dy, indices, length),
      kernels.slice(x, start, length),
      kernels.padRows(x, start, length + start + 1),
    ];
  });

const writtenRows: KernelCase["use"] = extent
  .chain((length) =>
    fc.record({
      length: fc.constant(length),
      width: extent,
      places: fc.uniqueArray(fc.nat(length - 1), { minLength: 1 }),
    }),
  )
  .map(({ length, width, places }) => (kernels, make) => {
    const x = make(length, 2, width);
    kernels.writeRows(x, Int32Array.from(places), make(places.length, 2, width));
    return [x];
  });

const joins: KernelCase["use"] = fc
  .record({ extents: fc.array(extent, { minLength: 1, maxLength: 4 }), rows: extent, axis: fc.constantFrom(0, -1) })
  .map(({ extents, rows: length, axis }) => (kernels, make) => {
    const parts = extents.map((size) => (axis === 0 ? make(size, length) : make(length, size)));
    const joined = kernels.concat(parts, axis === 0 ? 0 : -1);
    return [joined, ...kernels.split(joined, extents, axis === 0 ? 0 : -1)];
  });

const rotary: KernelCase["use"] = fc
  .record({ tokens: extent, heads: fc.integer({ min: 1, max: 4 }), half: extent, seed })
  .map(({ tokens, heads, half, seed: from }) => (kernels, make) => {
    const [x, cos, sin] = [make(tokens, heads, 2 * half), make(50, half), make(50, half)];
    const positions = seeded(tokens, 50, from);
    return [kernels.rotary(x, cos, sin, positions, 1), kernels.rotary(x, cos, sin, positions, -1)];
  });

const size = fc.oneof(extent, fc.integer({ min: 16_380, max: 33_000 }));

const adamW: KernelCase["use"] = fc
  .record({ size, step: fc.integer({ min: 1, max: 9 }) })
  .map(({ size: length, step }) => (kernels, make) => {
    const [parameter, gradient, mean] = [make(length), make(length), make(length)];
    const variance = kernels.upload(randomValues(length, step).map(Math.abs), [length], false);
    const options = { learningRate: 0.01, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.1, step };
    kernels.adamW(parameter, gradient, mean, variance, options);
    return [parameter, mean, variance];
  });

const elementwise: KernelCase["use"] = size.map((length) => (kernels, make) => {
  const [a, b] = [make(length), make(length)];
  const made = [kernels.add(a, b), kernels.scale(a, -3), kernels.scaleBy(a, make()), kernels.sumOfSquares(a)];
  kernels.addInPlace(a, b);
  kernels.scaleInPlace(b, 0.3);
  return [a, b, ...made];
});

const argmax: KernelCase["use"] = fc
  .record({ rows: extent, width: extent })
  .map(({ rows: length, width }) => (kernels, make) => [kernels.argmax(make(length, width))]);

export const kernelCases: readonly KernelCase[] = [
  { name: "linear and its products, with ragged edges and a bias", use: linear },
  { name: "linear over more inputs than a block holds", use: deepLinear },
  { name: "splitLinear and its products, without the gradient of a second input", use: splitLinear },
  { name: "rmsNorm", use: rmsNorm },
  { name: "rotary, forth and back", use: rotary },
  { name: "attention over any, causal and DFlash ranges, rows that see nothing among them", use: attention },
  { name: "swiglu", use: swiglu },
  { name: "linearCrossEntropy in chunks, rows of weight 0 among them", use: crossEntropy },
  { name: "linearDistillation in chunks, sure teachers and rows of weight 0 among them", use: distillation },
  { name: "gather, scatterAdd, slice and padRows", use: rows },
  { name: "writeRows, single rows and stretches", use: writtenRows },
  { name: "concat and split", use: joins },
  { name: "add, scale, scaleBy, sumOfSquares, addInPlace and scaleInPlace", use: elementwise },
  { name: "argmax", use: argmax },
  { name: "adamW", use: adamW },
];
