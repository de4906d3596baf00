import { expect, test } from "vitest";
import { describeOps } from "./describeOps.test-support.ts";
import { mismatch, randomValues } from "./opMismatch.test-support.ts";
import type { Ops } from "./ops.ts";
import type { Tensor } from "./tensor.ts";

/** Σ of all values, from the ops there are. */
const sum = ({ linear, reshape, upload }: Ops, x: Tensor): Tensor => {
  const size = x.shape.reduce((product, extent) => product * extent, 1);
  return reshape(linear(reshape(x, [1, size]), upload(new Float32Array(size).fill(1), [1, size])), []);
};

/** Derivative of silu. */
const slope = (value: number): number => {
  const sigmoid = 1 / (1 + Math.exp(-value));
  return sigmoid * (1 + value * (1 - sigmoid));
};

const dispose = (...tensors: readonly Tensor[]): void => {
  for (const tensor of tensors) tensor.dispose();
};

describeOps((ops) => {
  test("a parameter used in several places gets the sum of its gradients", async () => {
    const { upload, add, reshape, slice, concat, valueAndGrad } = ops();
    const x = upload(Float32Array.of(1, 2, 3, 4), [2, 2]);
    const { outputs, gradients } = valueAndGrad([x], () => {
      const doubled = add(x, reshape(reshape(x, [4]), [2, 2]));
      return { loss: sum(ops(), concat([doubled, slice(x, 1, 2), slice(doubled, 0, 1)], 0)) };
    });
    expect(await gradients[0]!.read()).toEqual(Float32Array.of(4, 4, 3, 3));
    dispose(x, outputs.loss, ...gradients);
  });

  test("parameters without influence get zeros, and whatever is not a parameter costs no gradient", async () => {
    const { upload, linear, valueAndGrad, engine } = ops();
    const size = 64;
    const [x, frozen, unused] = [
      upload(randomValues(size, 1), [1, size]),
      upload(randomValues(size * size, 2), [size, size]),
      upload(Float32Array.of(NaN), [1]),
    ];
    const before = engine.counters.newBytes;
    const { outputs, gradients } = valueAndGrad([unused, x], () => ({
      loss: sum(ops(), linear(linear(linear(x, frozen), frozen), frozen)),
    }));
    expect(engine.counters.newBytes - before).toBeLessThan(4 * size * size);
    expect(await gradients[0]!.read()).toEqual(Float32Array.of(0));
    expect((await gradients[1]!.read()).some((value) => value !== 0)).toBe(true);
    dispose(x, frozen, unused, outputs.loss, ...gradients);
  });

  test("gradients don't share memory, though they are the same numbers", async () => {
    const { upload, add, valueAndGrad, scaleInPlace, reshape } = ops();
    const [a, b, c] = [upload(Float32Array.of(1), []), upload(Float32Array.of(2), []), upload(Float32Array.of(3), [1])];
    const { outputs, gradients } = valueAndGrad([a, b, c], () => ({ loss: add(add(a, b), reshape(c, [])) }));
    scaleInPlace(gradients[0]!, 10);
    scaleInPlace(gradients[2]!, 100);
    expect(await Promise.all(gradients.map(async (gradient) => (await gradient.read())[0]))).toEqual([10, 1, 100]);
    dispose(a, b, c, outputs.loss, ...gradients);
  });

  test("a loss times a factor scales the gradients that were computed with it", async () => {
    const { upload, linearCrossEntropy, add, valueAndGrad } = ops();
    const [x, weight] = [upload(randomValues(6, 1), [2, 3]), upload(randomValues(12, 2), [4, 3])];
    const loss = () => linearCrossEntropy(x, weight, Int32Array.of(1, 2), Float32Array.of(1, 1)).loss;
    const once = valueAndGrad([x, weight], () => ({ loss: loss() }));
    const thrice = valueAndGrad([x, weight], () => {
      const value = loss();
      return { loss: add(add(value, value), value) };
    });
    for (const [i, gradient] of once.gradients.entries()) {
      expect(
        mismatch(
          await thrice.gradients[i]!.read(),
          (await gradient.read()).map((value) => 3 * value),
          "gradient",
        ),
      ).toBe("");
    }
    dispose(x, weight, once.outputs.loss, thrice.outputs.loss, ...once.gradients, ...thrice.gradients);
  });

  test("an output whose gradient is known later gets it at backward, even when the output's tensor is gone", async () => {
    const { upload, swiglu, record } = ops();
    const [x, up, gradient] = [
      upload(Float32Array.of(0.5, -1), [2]),
      upload(Float32Array.of(2, 3), [2]),
      upload(Float32Array.of(10, -1), [2]),
    ];
    const recording = record([x], () => ({ output: swiglu(x, up) }));
    recording.outputs.output.dispose();
    const [dx] = recording.backward(gradient);
    expect(mismatch(await dx!.read(), [20 * slope(0.5), -3 * slope(-1)], "gradient")).toBe("");
    expect(await gradient.read()).toEqual(Float32Array.of(10, -1));
    dispose(x, up, gradient, dx!);
  });

  test("an output needs a gradient of its shape", () => {
    const { upload, zeros, add, record, engine } = ops();
    const [x, wrong] = [upload(Float32Array.of(1, 2), [2]), zeros([3])];
    const before = engine.memory().tensors;
    for (const [gradient, message] of [
      [undefined, "backward: gradient is missing, expected that of the recorded output"],
      [wrong, "backward: gradient is [3], expected [2]"],
    ] as const) {
      const recording = record([x], () => ({ output: add(x, x) }));
      recording.outputs.output.dispose();
      expect(() => recording.backward(gradient)).toThrow(message);
    }
    expect(engine.memory().tensors).toBe(before);
    dispose(x, wrong);
  });

  test("values that the gradient needs outlive their tensors and scopes until backward, and then go", async () => {
    const { upload, swiglu, scope, record, engine } = ops();
    const x = upload(Float32Array.of(0.5, -1), [2]);
    const before = engine.memory().tensors;
    const recording = record([x], () => ({
      loss: scope(() => {
        const up = upload(Float32Array.of(2, 3), [2]);
        const y = swiglu(x, up);
        up.dispose();
        return sum(ops(), y);
      }),
    }));
    recording.outputs.loss.dispose();
    expect(engine.memory().tensors).toBeGreaterThan(before);
    const [gradient] = recording.backward();
    expect(engine.memory().tensors).toBe(before + 1);
    expect(mismatch(await gradient!.read(), [2 * slope(0.5), 3 * slope(-1)], "gradient")).toBe("");
    expect(() => recording.backward()).toThrow("backward: this recording has been used or disposed");
    dispose(x, gradient!);
  });

  test("a recording that is dropped, or whose function throws, leaves nothing behind", () => {
    const { upload, swiglu, linear, record, engine } = ops();
    const x = upload(Float32Array.of(1, 2), [1, 2]);
    const before = engine.memory().tensors;
    const recording = record([x], () => ({ loss: sum(ops(), swiglu(x, x)) }));
    recording.outputs.loss.dispose();
    recording.dispose();
    recording.dispose();
    expect(engine.memory().tensors).toBe(before);
    expect(() => record([x], () => ({ loss: linear(swiglu(x, x), upload(Float32Array.of(1), [1, 1])) }))).toThrow(
      "linear: weight is [1, 1], expected [out, 2]",
    );
    expect(engine.memory().tensors).toBe(before);
    x.dispose();
  });

  test("nested recordings, parameters given twice and losses that are no scalar are refused, and free what was made", () => {
    const { upload, add, record, engine } = ops();
    const x = upload(Float32Array.of(1, 2), [2]);
    const before = engine.memory().tensors;
    const inner = () => record([x], () => ({ loss: sum(ops(), x) })).outputs;
    expect(() => record([x], inner)).toThrow("record: another recording is running");
    expect(() => record([x, x], inner)).toThrow("record: parameters[1] is parameters[0] again");
    expect(() => record([x], () => ({ loss: add(x, x) }))).toThrow(
      "record: the returned loss is of shape [2], expected a scalar",
    );
    expect(engine.memory().tensors).toBe(before);
    const recording = record([x], () => ({ loss: sum(ops(), x) }));
    recording.dispose();
    dispose(x, recording.outputs.loss);
  });

  test("the caller may reuse its index arrays between recording and backward", async () => {
    const { upload, gather, record } = ops();
    const x = upload(Float32Array.of(1, 2, 3), [3]);
    const rows = Int32Array.of(2, 2);
    const recording = record([x], () => ({ loss: sum(ops(), gather(x, rows)) }));
    rows.fill(0);
    const [gradient] = recording.backward();
    expect(await gradient!.read()).toEqual(Float32Array.of(0, 0, 2));
    dispose(x, gradient!, recording.outputs.loss);
  });
});
