import * as fc from "fast-check";
import { expect, test } from "vitest";
import { describeOps } from "./describeOps.test-support.ts";
import { opMismatch, randomValues } from "./opMismatch.test-support.ts";
import { naive } from "./naive.test-support.ts";

const extent = fc.integer({ min: 1, max: 5 });
const seeds = fc.nat(1000);
const runs = { numRuns: 12 };

describeOps((ops) => {
  test("embedding takes rows, and its gradient adds up rows taken twice", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(3), { minLength: 1, maxLength: 9 }),
        extent,
        seeds,
        async (rows, width, seed) => {
          const ids = Int32Array.from(rows);
          expect(
            await opMismatch(ops(), {
              shapes: { table: [4, width] },
              seed,
              run: ({ embedding }, { table }) => embedding(table, ids),
              naive: ({ table }) => naive.rows(table, width, ids),
            }),
          ).toBe("");
        },
      ),
      runs,
    ));

  test("rmsNorm over the last axis of any rank", () =>
    fc.assert(
      fc.asyncProperty(fc.array(extent, { minLength: 1, maxLength: 3 }), seeds, async (shape, seed) => {
        expect(
          await opMismatch(ops(), {
            shapes: { x: shape, weight: shape.slice(-1) },
            seed,
            run: ({ rmsNorm }, { x, weight }) => rmsNorm(x, weight, 1e-2),
            naive: ({ x, weight }) => naive.rmsNorm(x, weight, 1e-2),
          }),
        ).toBe("");
      }),
      runs,
    ));

  test("splitLinear is linear of the joined inputs", () =>
    fc.assert(
      fc.asyncProperty(
        extent,
        fc.tuple(extent, extent, extent),
        extent,
        seeds,
        async (tokens, [first, second, third], outputs, seed) => {
          const width = first + second + third;
          expect(
            await opMismatch(ops(), {
              shapes: { a: [tokens, first], b: [tokens, second], c: [tokens, third], weight: [outputs, width] },
              seed,
              run: ({ splitLinear }, { a, b, c, weight }) => splitLinear([a, b, c], weight),
              naive: ({ a, b, c, weight }) => {
                const joined = Array.from({ length: tokens }, (_, token) => [
                  ...a.subarray(token * first, (token + 1) * first),
                  ...b.subarray(token * second, (token + 1) * second),
                  ...c.subarray(token * third, (token + 1) * third),
                ]);
                return naive.linear(Float64Array.from(joined.flat()), weight, width);
              },
            }),
          ).toBe("");
        },
      ),
      runs,
    ));

  test("linear without a bias and with one", () =>
    fc.assert(
      fc.asyncProperty(extent, extent, extent, seeds, async (tokens, inputs, outputs, seed) => {
        const shapes = { x: [tokens, inputs], weight: [outputs, inputs] };
        expect(
          await opMismatch(ops(), {
            shapes,
            seed,
            run: ({ linear }, { x, weight }) => linear(x, weight),
            naive: ({ x, weight }) => naive.linear(x, weight, inputs),
          }),
        ).toBe("");
        expect(
          await opMismatch(ops(), {
            shapes: { ...shapes, bias: [outputs] },
            seed,
            run: ({ linear }, { x, weight, bias }) => linear(x, weight, bias),
            naive: ({ x, weight, bias }) => naive.linear(x, weight, inputs, bias),
          }),
        ).toBe("");
      }),
      runs,
    ));

  test("rotary turns each head by the angles of its position, in any order of positions", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(6), { minLength: 1, maxLength: 4 }),
        extent,
        extent,
        seeds,
        async (order, heads, half, seed) => {
          const positions = Int32Array.from(order);
          const angles = randomValues(7 * half, seed + 9).map((value) => 3 * value);
          const [cos, sin] = [angles.map(Math.cos), angles.map(Math.sin)];
          const table = { cos: ops().upload(cos, [7, half]), sin: ops().upload(sin, [7, half]) };
          expect(
            await opMismatch(ops(), {
              shapes: { x: [order.length, heads, 2 * half] },
              seed,
              run: ({ rotary }, { x }) => rotary(x, table, positions),
              naive: ({ x }) => naive.rotary(x, Float64Array.from(cos), Float64Array.from(sin), positions, 2 * half),
            }),
          ).toBe("");
          table.cos.dispose();
          table.sin.dispose();
        },
      ),
      runs,
    ));

  test("swiglu", () =>
    fc.assert(
      fc.asyncProperty(extent, extent, seeds, async (tokens, width, seed) => {
        expect(
          await opMismatch(ops(), {
            shapes: { gate: [tokens, width], up: [tokens, width] },
            seed,
            run: ({ swiglu }, { gate, up }) => swiglu(gate, up),
            naive: ({ gate, up }) => naive.swiglu(gate, up),
          }),
        ).toBe("");
      }),
      runs,
    ));

  test("swiglu stays finite far out, where e^−x overflows", async () => {
    const [gate, up] = [
      ops().upload(Float32Array.of(-200, 200, -90), [1, 3]),
      ops().upload(Float32Array.of(1, 2, 3), [1, 3]),
    ];
    const y = ops().swiglu(gate, up);
    const [low, high, lower] = await y.read();
    expect(Math.abs(low!)).toBeLessThan(1e-30);
    expect(high).toBe(400);
    expect(Math.abs(lower!)).toBeLessThan(1e-30);
    for (const tensor of [gate, up, y]) tensor.dispose();
  });

  test("add, of two tensors and of one with itself", () =>
    fc.assert(
      fc.asyncProperty(extent, extent, seeds, async (tokens, width, seed) => {
        expect(
          await opMismatch(ops(), {
            shapes: { a: [tokens, width], b: [tokens, width] },
            seed,
            run: ({ add }, { a, b }) => add(add(a, b), a),
            naive: ({ a, b }) => a.map((value, i) => 2 * value + b[i]!),
          }),
        ).toBe("");
        expect(
          await opMismatch(ops(), {
            shapes: { a: [tokens, width] },
            seed,
            run: ({ add }, { a }) => add(a, a),
            naive: ({ a }) => a.map((value) => 2 * value),
          }),
        ).toBe("");
      }),
      runs,
    ));

  test("wrong arguments are refused with the op, the argument, what came and what was expected", () => {
    ops().scope(() => {
      const { embedding, rmsNorm, linear, rotary, swiglu, add, zeros } = ops();
      const [x, weight] = [zeros([2, 3]), zeros([4, 5])];
      expect(() => linear(x, weight)).toThrow("linear: weight is [4, 5], expected [out, 3]");
      expect(() => linear(zeros([3]), weight)).toThrow("linear: x is [3], expected [T, in]");
      expect(() => linear(x, zeros([4, 3]), zeros([3]))).toThrow("linear: bias is [3], expected [4]");
      expect(() => linear(zeros([2, 3], "int32"), zeros([4, 3]))).toThrow("linear: x is int32, expected float32");
      expect(() => rmsNorm(x, zeros([2]), 1e-6)).toThrow("rmsNorm: weight is [2], expected [3]");
      expect(() => embedding(weight, Int32Array.of(0, 4))).toThrow("embedding: ids[1] is 4, expected 0 ≤ index < 4");
      expect(() => embedding(weight, Int32Array.of(-1))).toThrow("embedding: ids[0] is -1, expected 0 ≤ index < 4");
      expect(() => add(x, weight)).toThrow("add: b is [4, 5], expected [2, 3]");
      expect(() => swiglu(x, weight)).toThrow("swiglu: up is [4, 5], expected [2, 3]");
      const table = { cos: zeros([5, 2]), sin: zeros([5, 2]) };
      expect(() => rotary(zeros([1, 2, 3]), table, Int32Array.of(0))).toThrow(
        "rotary: x is [1, 2, 3], expected an even last axis",
      );
      expect(() => rotary(zeros([1, 2, 4]), table, Int32Array.of(5))).toThrow(
        "rotary: positions[0] is 5, expected 0 ≤ index < 5",
      );
      expect(() => rotary(zeros([1, 2, 4]), table, Int32Array.of(1, 2))).toThrow(
        "rotary: positions.length is 2, expected 1",
      );
    });
  });
});
