import type { RowRanges } from "@dflash/block-mask";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { describeOps } from "./describeOps.test-support.ts";
import { opMismatch, randomValues } from "./opMismatch.test-support.ts";
import { naive } from "./naive.test-support.ts";

/** Two intervals for each query, of any lengths, empty ones included. */
const ranges = (queryLength: number, keyLength: number): fc.Arbitrary<RowRanges> =>
  fc
    .array(fc.array(fc.nat(keyLength), { minLength: 4, maxLength: 4 }), {
      minLength: queryLength,
      maxLength: queryLength,
    })
    .map((rows) => ({
      queryLength,
      keyLength,
      bounds: Int32Array.from(rows.flatMap((row) => row.toSorted((a, b) => a - b))),
    }));

const shapes = fc
  .record({
    queries: fc.integer({ min: 1, max: 6 }),
    keys: fc.integer({ min: 1, max: 6 }),
    kvHeads: fc.integer({ min: 1, max: 2 }),
    group: fc.constantFrom(1, 2, 3, 8),
    size: fc.integer({ min: 1, max: 4 }),
    seed: fc.nat(1000),
  })
  .chain((shape) => fc.record({ shape: fc.constant(shape), mask: ranges(shape.queries, shape.keys) }));

describeOps((ops) => {
  test("attention over any two intervals a query, 1 to 8 query heads a key head, one token included", () =>
    fc.assert(
      fc.asyncProperty(shapes, async ({ shape: { queries, keys, kvHeads, group, size, seed }, mask }) => {
        const heads = kvHeads * group;
        expect(
          await opMismatch(ops(), {
            shapes: { q: [queries, heads, size], k: [keys, kvHeads, size], v: [keys, kvHeads, size] },
            seed,
            run: ({ attention }, { q, k, v }) => attention(q, k, v, mask),
            naive: ({ q, k, v }) => naive.attention(q, k, v, { heads, kvHeads, size }, mask),
          }),
        ).toBe("");
      }),
      { numRuns: 30 },
    ));

  test("a scale of one's own", async () => {
    const mask = { queryLength: 2, keyLength: 3, bounds: Int32Array.of(0, 1, 2, 3, 0, 3, 3, 3) };
    expect(
      await opMismatch(ops(), {
        shapes: { q: [2, 2, 4], k: [3, 1, 4], v: [3, 1, 4] },
        seed: 5,
        run: ({ attention }, { q, k, v }) => attention(q, k, v, mask, { scale: 2 }),
        naive: ({ q, k, v }) => naive.attention(q, k, v, { heads: 2, kvHeads: 1, size: 4, scale: 2 }, mask),
      }),
    ).toBe("");
  });

  test("a query without keys gives 0 and has no gradient, and the others don't notice it", async () => {
    const { upload, linear, reshape, attention, valueAndGrad } = ops();
    const mask = { queryLength: 3, keyLength: 2, bounds: Int32Array.of(0, 0, 0, 0, 0, 2, 2, 2, 1, 1, 2, 2) };
    const q = upload(randomValues(12, 1), [3, 2, 2]);
    const k = upload(randomValues(4, 2), [2, 1, 2]);
    const v = upload(randomValues(4, 3), [2, 1, 2]);
    const sum = upload(new Float32Array(12).fill(1), [1, 12]);
    const { outputs, gradients } = valueAndGrad([q, k, v], () => {
      const y = attention(q, k, v, mask);
      return { y, loss: reshape(linear(reshape(y, [1, 12]), sum), []) };
    });
    const y = Array.from(await outputs.y.read());
    expect(y.slice(0, 4)).toEqual([0, 0, 0, 0]);
    expect(y.slice(8)).toEqual([0, 0, 0, 0]);
    expect(y.slice(4, 8).every((value) => Number.isFinite(value) && value !== 0)).toBe(true);
    const [dq, dk, dv] = await Promise.all(gradients.map(async (gradient) => Array.from(await gradient.read())));
    expect(dq!.slice(0, 4).every((value) => value === 0)).toBe(true);
    expect(dq!.slice(8).every((value) => value === 0)).toBe(true);
    expect([...dq!, ...dk!, ...dv!].every(Number.isFinite)).toBe(true);
    for (const tensor of [q, k, v, sum, outputs.y, outputs.loss, ...gradients]) tensor.dispose();
  });

  test("scores in the thousands don't overflow", async () => {
    const { upload, attention } = ops();
    const mask = { queryLength: 1, keyLength: 2, bounds: Int32Array.of(0, 2, 2, 2) };
    const q = upload(Float32Array.of(5000), [1, 1, 1]);
    const k = upload(Float32Array.of(1, -1), [2, 1, 1]);
    const v = upload(Float32Array.of(3, 7), [2, 1, 1]);
    const y = attention(q, k, v, mask);
    expect(Array.from(await y.read())).toEqual([3]);
    for (const tensor of [q, k, v, y]) tensor.dispose();
  });

  test("ranges that don't fit are refused", () => {
    ops().scope(() => {
      const { zeros, attention } = ops();
      const [q, k] = [zeros([2, 4, 2]), zeros([3, 2, 2])];
      const attend = (keyLength: number, ...bounds: number[]) =>
        attention(q, k, k, { queryLength: 2, keyLength, bounds: Int32Array.from(bounds) });
      expect(() => attend(4, 0, 0, 0, 0, 0, 0, 0, 0)).toThrow("attention: ranges.keyLength is 4, expected k's 3 rows");
      expect(() => attend(3, 0, 0, 0, 0)).toThrow("attention: ranges.bounds.length is 4, expected 4 × 2");
      expect(() => attend(3, 0, 0, 0, 0, 0, 2, 1, 3)).toThrow(
        "attention: ranges.bounds of query 1 is 0, 2, 1, 3, expected 0 ≤ start0 ≤ end0 ≤ start1 ≤ end1 ≤ 3",
      );
      const none = { queryLength: 2, keyLength: 3, bounds: new Int32Array(8) };
      expect(() => attention(zeros([2, 3, 2]), k, k, none)).toThrow(
        "attention: heads is 3, expected a multiple of kvHeads = 2",
      );
      expect(() => attention(q, k, zeros([2, 2, 2]), none)).toThrow("attention: v is [2, 2, 2], expected [3, 2, 2]");
    });
  });
});
