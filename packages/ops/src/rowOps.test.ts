import * as fc from "fast-check";
import { expect, test } from "vitest";
import { describeOps } from "./describeOps.test-support.ts";
import { opMismatch } from "./opMismatch.test-support.ts";
import { naive } from "./naive.test-support.ts";

const extent = fc.integer({ min: 1, max: 4 });
const seeds = fc.nat(1000);
const runs = { numRuns: 12 };

describeOps((ops) => {
  test("concat of rows", () =>
    fc.assert(
      fc.asyncProperty(extent, extent, extent, seeds, async (first, second, width, seed) => {
        expect(
          await opMismatch(ops(), {
            shapes: { a: [first, 2, width], b: [second, 2, width] },
            seed,
            run: ({ concat }, { a, b }) => concat([a, b, a], 0),
            naive: ({ a, b }) => Float64Array.of(...a, ...b, ...a),
          }),
        ).toBe("");
      }),
      runs,
    ));

  test("concat of columns", () =>
    fc.assert(
      fc.asyncProperty(extent, extent, extent, seeds, async (rows, left, right, seed) => {
        expect(
          await opMismatch(ops(), {
            shapes: { a: [rows, left], b: [rows, right] },
            seed,
            run: ({ concat }, { a, b }) => concat([a, b], -1),
            naive: ({ a, b }) =>
              Float64Array.from(
                Array.from({ length: rows }, (_, row) => [
                  ...a.subarray(row * left, (row + 1) * left),
                  ...b.subarray(row * right, (row + 1) * right),
                ]).flat(),
              ),
          }),
        ).toBe("");
      }),
      runs,
    ));

  test("slice, from the whole to a single row", () =>
    fc.assert(
      fc.asyncProperty(extent, fc.nat(3), fc.nat(3), extent, seeds, async (length, before, after, width, seed) => {
        expect(
          await opMismatch(ops(), {
            shapes: { x: [before + length + after, width] },
            seed,
            run: ({ slice }, { x }) => slice(x, before, before + length),
            naive: ({ x }) => x.slice(before * width, (before + length) * width),
          }),
        ).toBe("");
      }),
      runs,
    ));

  test("gather of rows with two axes, in any order and more than once", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(4), { minLength: 1, maxLength: 8 }),
        extent,
        seeds,
        async (order, width, seed) => {
          const rows = Int32Array.from(order);
          expect(
            await opMismatch(ops(), {
              shapes: { x: [5, 2, width] },
              seed,
              run: ({ gather }, { x }) => gather(x, rows),
              naive: ({ x }) => naive.rows(x, 2 * width, rows),
            }),
          ).toBe("");
        },
      ),
      runs,
    ));

  test("reshape keeps the values, and the tensor it came from may go", async () => {
    const { upload, reshape } = ops();
    const x = upload(Int32Array.of(1, 2, 3, 4, 5, 6), [2, 3]);
    const y = reshape(x, [3, 1, 2]);
    x.dispose();
    expect(y.shape).toEqual([3, 1, 2]);
    expect(await y.read()).toEqual(Int32Array.of(1, 2, 3, 4, 5, 6));
    y.dispose();
    expect(
      await opMismatch(ops(), {
        shapes: { x: [2, 6] },
        seed: 3,
        run: (_, { x: input }) => reshape(reshape(input, [3, 4]), [12]),
        naive: ({ x: input }) => input,
      }),
    ).toBe("");
  });

  test("indices stay int32 through concat, slice and gather", async () => {
    const { upload, concat, slice, gather, scope } = ops();
    const rows = scope(() => {
      const x = upload(Int32Array.of(7, 8, 9), [3]);
      return gather(slice(concat([x, x], 0), 1, 5), Int32Array.of(3, 0));
    });
    expect(rows.dtype).toBe("int32");
    expect(await rows.read()).toEqual(Int32Array.of(8, 8));
    rows.dispose();
  });

  test("what doesn't fit is refused", () => {
    ops().scope(() => {
      const { zeros, concat, slice, gather, reshape } = ops();
      const x = zeros([2, 3]);
      expect(() => concat([], 0)).toThrow("concat: tensors is empty, expected one or more");
      expect(() => concat([x, zeros([2, 4])], 0)).toThrow("concat: tensors[1] is [2, 4], expected [any, 3]");
      expect(() => concat([x, zeros([2, 3], "int32")], 0)).toThrow("concat: tensors[1] is int32, expected float32");
      expect(() => slice(x, 0, 3)).toThrow("slice: end is 3, expected 0 ≤ end ≤ 2");
      expect(() => slice(x, 2, 1)).toThrow("slice: end is 1, expected 2 ≤ end ≤ 2");
      expect(() => gather(x, Int32Array.of(2))).toThrow("gather: rows[0] is 2, expected 0 ≤ index < 2");
      expect(() => reshape(x, [4])).toThrow("reshape: shape is [4], expected as many values as [2, 3]");
    });
  });
});
