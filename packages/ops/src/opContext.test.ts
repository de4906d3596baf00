import { expect, test } from "vitest";
import { describeOps } from "./describeOps.test-support.ts";

describeOps((ops) => {
  test("a tensor used after it was disposed is named with the op", async () => {
    const { upload, zeros, linear, add } = ops();
    const [x, weight] = [zeros([1, 2]), upload(Float32Array.of(1, 2), [1, 2])];
    weight.dispose();
    weight.dispose();
    expect(() => linear(x, weight)).toThrow("linear: weight was disposed");
    expect(() => add(weight, x)).toThrow("add: a was disposed");
    await expect(weight.read()).rejects.toThrow("read: the tensor was disposed");
    x.dispose();
  });

  test("something that is no tensor of these ops is refused", () => {
    const { zeros, add } = ops();
    const x = zeros([1]);
    expect(() => add(x, { ...x })).toThrow("add: b is no tensor of these ops");
    x.dispose();
  });

  test("what is read and uploaded is a copy", async () => {
    const { upload } = ops();
    const values = Float32Array.of(1, 2, 3);
    const x = upload(values, [3]);
    values.fill(9);
    (await x.read()).fill(7);
    expect(await x.read()).toEqual(Float32Array.of(1, 2, 3));
    x.dispose();
  });

  test("a read that has begun survives the tensor", async () => {
    const x = ops().upload(Int32Array.of(1, 2), [2]);
    const reading = x.read();
    x.dispose();
    expect(await reading).toEqual(Int32Array.of(1, 2));
  });

  test("values that don't fill the shape are refused", () => {
    expect(() => ops().upload(new Float32Array(5), [2, 3])).toThrow(
      "upload: data.length is 5, expected the 6 values of shape [2, 3]",
    );
  });
});
