import { expect, test } from "vitest";
import { describeOps } from "./describeOps.test-support.ts";
import { mismatch, randomValues } from "./opMismatch.test-support.ts";

const options = { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.5, step: 1 };

describeOps((ops) => {
  test("the first adamW step moves each value by the learning rate against its gradient's sign, after the decay", async () => {
    const { upload, zeros, adamW } = ops();
    const [parameter, gradient] = [upload(Float32Array.of(2, -4, 1), [3]), upload(Float32Array.of(3, -0.5, 0), [3])];
    const state = { mean: zeros([3]), variance: zeros([3]) };
    adamW(parameter, gradient, state, options);
    expect(mismatch(await parameter.read(), [2 * 0.95 - 0.1, -4 * 0.95 + 0.1, 0.95], "parameter")).toBe("");
    expect(mismatch(await state.mean.read(), [0.3, -0.05, 0], "mean")).toBe("");
    expect(mismatch(await state.variance.read(), [0.09, 0.0025, 0], "variance")).toBe("");
    for (const tensor of [parameter, gradient, state.mean, state.variance]) tensor.dispose();
  });

  test("an update in place shows in the next product with the parameter", async () => {
    const { upload, linear, addInPlace, scaleInPlace } = ops();
    const [x, weight, one] = [
      upload(Float32Array.of(1, 2), [1, 2]),
      upload(Float32Array.of(3, 4), [1, 2]),
      upload(Float32Array.of(1, 1), [1, 2]),
    ];
    const products = [linear(x, weight)];
    addInPlace(weight, one);
    products.push(linear(x, weight));
    scaleInPlace(weight, -2);
    products.push(linear(x, weight));
    expect(await Promise.all(products.map(async (product) => (await product.read())[0]))).toEqual([11, 14, -28]);
    expect(await one.read()).toEqual(Float32Array.of(1, 1));
    for (const tensor of [x, weight, one, ...products]) tensor.dispose();
  });

  test("scaleRowsInPlace gives each row a factor of its own", async () => {
    const { upload, scaleRowsInPlace } = ops();
    const [x, y] = [upload(Float32Array.of(1, 2, 3, 4, 5, 6), [3, 2]), upload(Float32Array.of(1, 2, 3), [3])];
    for (const tensor of [x, y]) scaleRowsInPlace(tensor, Float32Array.of(2, 0, -0.5));
    expect(await x.read()).toEqual(Float32Array.of(2, 4, 0, 0, -2.5, -3));
    expect(await y.read()).toEqual(Float32Array.of(2, 0, -1.5));
    expect(() => scaleRowsInPlace(x, Float32Array.of(1))).toThrow(
      "scaleRowsInPlace: factors.length is 1, expected x's 3 rows",
    );
    for (const tensor of [x, y]) tensor.dispose();
  });

  test("writeRows gives rows other values, whatever was read of them before", async () => {
    const { upload, slice, writeRows } = ops();
    const [x, two] = [upload(Float32Array.of(1, 2, 3, 4, 5, 6), [3, 2]), upload(Float32Array.of(7, 8, 9, 10), [2, 2])];
    const before = slice(x, 0, 3);
    writeRows(x, Int32Array.of(2, 0), two);
    expect(await x.read()).toEqual(Float32Array.of(9, 10, 3, 4, 7, 8));
    expect(() => writeRows(x, Int32Array.of(3, 0), two)).toThrow("writeRows: rows[0] is 3, expected 0 ≤ index < 3");
    expect(() => writeRows(x, Int32Array.of(0), two)).toThrow("writeRows: values is [2, 2], expected [1, 2]");
    for (const tensor of [x, two, before]) tensor.dispose();
  });

  test("globalNorm over all tensors, in one figure", async () => {
    const { upload, globalNorm } = ops();
    const values = [randomValues(7, 1), randomValues(12, 2), randomValues(1, 3)];
    const tensors = [upload(values[0]!, [7]), upload(values[1]!, [3, 4]), upload(values[2]!, [])];
    const expected = Math.sqrt(values.flatMap((array) => [...array]).reduce((sum, value) => sum + value * value, 0));
    expect(mismatch([await globalNorm(tensors)], [expected], "norm")).toBe("");
    expect(await globalNorm([])).toBe(0);
    for (const tensor of tensors) tensor.dispose();
  });

  test.each([NaN, Infinity, -Infinity])("globalNorm of a tensor with %d is not finite", async (bad) => {
    const tensor = ops().upload(Float32Array.of(1, bad, 2), [3]);
    expect(Number.isFinite(await ops().globalNorm([tensor]))).toBe(false);
    tensor.dispose();
  });

  test("what a recording or a reshaped tensor still needs is not changed in place", () => {
    const { upload, linear, reshape, record, scaleInPlace } = ops();
    const [x, weight] = [upload(Float32Array.of(1, 2), [1, 2]), upload(Float32Array.of(3, 4), [1, 2])];
    const recording = record([x], () => ({ loss: reshape(linear(x, weight), []) }));
    expect(() => scaleInPlace(weight, 2)).toThrow("scaleInPlace: x is still held by a recording");
    recording.dispose();
    scaleInPlace(weight, 2);
    const flat = reshape(weight, [2]);
    expect(() => scaleInPlace(weight, 2)).toThrow("shared with a reshaped tensor");
    for (const tensor of [x, weight, flat, recording.outputs.loss]) tensor.dispose();
  });

  test("shapes that differ are refused", () => {
    ops().scope(() => {
      const { zeros, adamW, addInPlace } = ops();
      const state = { mean: zeros([2]), variance: zeros([3]) };
      expect(() => adamW(zeros([2]), zeros([2]), state, options)).toThrow("adamW: state.variance is [3], expected [2]");
      expect(() => adamW(zeros([3]), zeros([2]), state, options)).toThrow("adamW: gradient is [2], expected [3]");
      expect(() =>
        adamW(zeros([2]), zeros([2]), { mean: zeros([2]), variance: zeros([2]) }, { ...options, step: 0 }),
      ).toThrow("adamW: options.step is 0, expected a whole number from 1");
      expect(() => addInPlace(zeros([2]), zeros([1]))).toThrow("addInPlace: b is [1], expected [2]");
    });
  });
});
