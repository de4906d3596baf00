import type { Ops } from "./ops.ts";
import type { Tensor } from "./tensor.ts";
import { sizeOf } from "./validate.ts";

/** Reproducible values in [−1, 1), already rounded to float32. */
export function randomValues(size: number, seed: number): Float32Array {
  let state = seed * 2_654_435_761 + size;
  return new Float32Array(size).map(() => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 31 - 1;
  });
}

type Values<Names extends string> = Record<Names, Float64Array>;

export interface OpCase<Names extends string> {
  /** Shapes of the inputs that have gradients. */
  shapes: Record<Names, readonly number[]>;
  seed: number;
  run: (ops: Ops, inputs: Record<Names, Tensor>) => Tensor;
  /** The same in Float64. */
  naive: (inputs: Values<Names>) => Float64Array;
}

/** Largest difference allowed, relative to the largest value expected or to 1, the size of the inputs: float32 rounding over small shapes. */
const tolerance = 2e-5;

/** Names the first value that is not close to what is expected; "" when all are. */
export function mismatch(got: ArrayLike<number>, expected: ArrayLike<number>, what: string): string {
  if (got.length !== expected.length) return `${what}: ${got.length} values, expected ${expected.length}`;
  const values = Array.from(expected);
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
  // NaN compares false with everything: it must not pass.
  const i = values.findIndex((value, index) => !(Math.abs(value - got[index]!) <= tolerance * largest));
  return i < 0 ? "" : `${what}[${i}]: ${got[i]}, expected ${values[i]} ± ${tolerance * largest}`;
}

/** Norm of the difference over the norm of what is expected. */
export function relativeError(got: ArrayLike<number>, expected: ArrayLike<number>): number {
  const values = Array.from(expected);
  return Math.hypot(...values.map((value, i) => value - got[i]!)) / Math.hypot(...values);
}

/**
 * Compares an op's value with its naive form's, its gradients with central differences of that, for all inputs at once
 * and each alone (what the others' gradients need must not matter), and looks for what it leaves behind; "" when all is well.
 */
export async function opMismatch<Names extends string>(
  ops: Ops,
  { shapes, seed, run, naive }: OpCase<Names>,
): Promise<string> {
  // oxlint-disable-next-line no-unsafe-type-assertion -- shapes has these keys and no others
  const names = Object.keys(shapes) as Names[];
  const tensorsBefore = ops.engine.memory().tensors;
  const data = names.map((name, i) => randomValues(sizeOf(shapes[name]), seed + i));
  const inputs = names.map((name, i) => ops.upload(data[i]!, shapes[name]));
  const named = <T>(values: readonly T[]): Record<Names, T> =>
    // oxlint-disable-next-line no-unsafe-type-assertion -- one value for each of the names
    Object.fromEntries(names.map((name, i) => [name, values[i]!])) as Record<Names, T>;
  const values = data.map((array) => Float64Array.from(array));
  const problems: string[] = [];

  const y = ops.scope(() => run(ops, named(inputs)));
  const expected = naive(named(values));
  problems.push(mismatch(await y.read(), expected, "value"));

  // A scalar to differentiate: Σ direction·y.
  const direction = randomValues(expected.length, seed + names.length);
  const row = [1, expected.length];
  const weights = ops.upload(direction, row);
  const loss = (): { loss: Tensor } => ({
    loss: ops.reshape(ops.linear(ops.reshape(run(ops, named(inputs)), row), weights), []),
  });
  const differences = names.map((_, i) => centralDifferences(values, i, () => naive(named(values)), direction));
  for (const which of [names, ...names.map((name) => [name])]) {
    const { outputs, gradients } = ops.valueAndGrad(
      which.map((name) => named(inputs)[name]),
      loss,
    );
    for (const [at, name] of which.entries()) {
      const gradient = gradients[at]!;
      if (String(gradient.shape) !== String(shapes[name]))
        problems.push(`gradient of ${name}: [${gradient.shape.join()}]`);
      problems.push(mismatch(await gradient.read(), named(differences)[name], `gradient of ${name}`));
    }
    for (const tensor of [outputs.loss, ...gradients]) tensor.dispose();
  }

  for (const tensor of [...inputs, y, weights]) tensor.dispose();
  const left = ops.engine.memory().tensors - tensorsBefore;
  if (left !== 0) problems.push(`${left} tensors left`);
  return problems.filter((problem) => problem !== "").join("; ");
}

function centralDifferences(
  inputs: readonly Float64Array[],
  which: number,
  naive: () => Float64Array,
  direction: Float32Array,
): Float64Array {
  const input = inputs[which]!;
  const step = 1e-5;
  const at = (index: number, value: number): number => {
    input[index] = value;
    return naive().reduce((sum, output, i) => sum + output * direction[i]!, 0);
  };
  return input.map((value, index) => {
    const slope = (at(index, value + step) - at(index, value - step)) / (2 * step);
    input[index] = value;
    return slope;
  });
}
