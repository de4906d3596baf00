import type { DeviceValues, OpAttributes, TensorflowOps } from "@dflash/engine";
import * as tf from "@tensorflow/tfjs-core";

/** What the TensorFlow kernels share: TensorFlow's ops on values that are freed with the kernel that made them. */
export interface TensorflowContext {
  readonly raw: TensorflowOps;
  /** Runs `fn` on the tensors' values and makes tensors of what it returns; everything else that it made is freed. */
  readonly kernel: (inputs: readonly tf.Tensor[], fn: (...values: DeviceValues[]) => DeviceValues[]) => tf.Tensor[];
  /** {@link TensorflowContext.kernel} of one result. */
  readonly single: (inputs: readonly tf.Tensor[], fn: (...values: DeviceValues[]) => DeviceValues) => tf.Tensor;
  /** Gives a tensor the values that `fn` makes of the inputs', of its shape. */
  readonly assign: (
    target: tf.Tensor,
    inputs: readonly tf.Tensor[],
    fn: (...values: DeviceValues[]) => DeviceValues,
  ) => void;
  /** Runs a part of a kernel; what it made but does not return is freed already at its end. */
  readonly part: <T extends readonly DeviceValues[]>(fn: () => T) => T;
  /** Frees what the running part of a kernel made. */
  readonly drop: (values: DeviceValues) => void;
  /** Keeps values past the kernel that made them, until they are freed by `raw.free`. */
  readonly hold: (values: DeviceValues) => void;
  /** Runs an op of one result. */
  readonly op: (name: string, inputs: readonly DeviceValues[], attributes?: OpAttributes) => DeviceValues;
  /** Runs an op of several results. */
  readonly several: (name: string, inputs: readonly DeviceValues[], outputs: number) => DeviceValues[];
  /** Host values; not to be changed as long as the kernel runs. */
  readonly host: (data: Float32Array | Int32Array, shape?: readonly number[]) => DeviceValues;
  /** Whole numbers, such as a shape. */
  readonly ints: (...values: number[]) => DeviceValues;
  /** Numbers that come again. */
  readonly constant: TensorflowOps["constant"];
  readonly reshape: (x: DeviceValues, shape: readonly number[]) => DeviceValues;
  /** Rows start ≤ i < end of axis 0; of the same memory where they lie well in it. */
  readonly rows: (x: DeviceValues, start: number, end: number) => DeviceValues;
  readonly transpose: (x: DeviceValues, axes: readonly number[]) => DeviceValues;
  readonly concat: (parts: readonly DeviceValues[], axis: number, type?: "float32" | "int32") => DeviceValues;
  /** a·b of matrices, or of the last two axes; A and B say which operand is transposed first. */
  readonly product: (a: DeviceValues, b: DeviceValues, transposed?: "A" | "B") => DeviceValues;
}

const matMul = {
  none: {},
  A: { transpose_a: true },
  B: { transpose_b: true },
} as const;

const batchMatMul = {
  none: {},
  A: { adj_x: true },
  B: { adj_y: true },
} as const;

export function createTensorflowContext(raw: TensorflowOps): TensorflowContext {
  /** Attributes of ops on lists, which don't follow from the inputs. */
  const lists = new Map<string, OpAttributes>();
  let made: DeviceValues[] = [];

  const track = (values: DeviceValues): DeviceValues => {
    made.push(values);
    return values;
  };

  const untrack = (values: DeviceValues): void => void made.splice(made.indexOf(values), 1);

  /** Runs `fn` and frees what was made in it but what it returns. */
  const freeing = <T extends readonly DeviceValues[]>(fn: () => T): T => {
    const outer = made;
    made = [];
    let results: readonly DeviceValues[] = [];
    try {
      const returned = fn();
      results = returned;
      return returned;
    } finally {
      for (const values of made) if (!results.includes(values)) raw.free(values);
      made = outer;
    }
  };

  const onValues = (inputs: readonly tf.Tensor[], fn: (...values: DeviceValues[]) => DeviceValues[]): DeviceValues[] =>
    freeing(() => fn(...inputs.map((input) => raw.values(input))));

  const kernel: TensorflowContext["kernel"] = (inputs, fn) =>
    onValues(inputs, fn).map((values) => tf.engine().makeTensorFromTensorInfo(raw.keep(values)));

  const op: TensorflowContext["op"] = (name, inputs, attributes) => track(raw.run(name, inputs, attributes)[0]!);
  const host: TensorflowContext["host"] = (data, shape = [data.length]) => track(raw.upload(data, shape));
  const ints: TensorflowContext["ints"] = (...values) => raw.constant(values, "int32");

  return {
    raw,
    kernel,
    single: (inputs, fn) => kernel(inputs, (...values) => [fn(...values)])[0]!,
    assign: (target, inputs, fn) => raw.replace(target, onValues(inputs, (...values) => [fn(...values)])[0]!),
    drop(values) {
      untrack(values);
      raw.free(values);
    },
    hold(values) {
      untrack(values);
      raw.hold(values);
    },
    part(fn) {
      const results = freeing(fn);
      for (const values of results) track(values);
      return results;
    },
    op,
    several: (name, inputs, outputs) => raw.run(name, inputs, undefined, outputs).map(track),
    host,
    ints,
    constant: raw.constant,
    reshape: (x, shape) => op("Reshape", [x, ints(...shape)]),
    rows(x, start, end) {
      const rest = x.shape.slice(1);
      return op("Slice", [x, ints(start, ...rest.map(() => 0)), ints(end - start, ...rest)]);
    },
    transpose: (x, axes) => op("Transpose", [x, raw.constant(axes, "int32")]),
    concat(parts, axis, type = "float32") {
      if (parts.length === 1) return parts[0]!;
      const key = `${type} ${parts.length}`;
      let attributes = lists.get(key);
      if (attributes === undefined) lists.set(key, (attributes = { N: parts.length, T: { type } }));
      return op("ConcatV2", [...parts, raw.constant(axis, "int32")], attributes);
    },
    product(a, b, transposed) {
      return a.shape.length === 2
        ? op("MatMul", [a, b], matMul[transposed ?? "none"])
        : op("BatchMatMulV2", [a, b], batchMatMul[transposed ?? "none"]);
    },
  };
}
