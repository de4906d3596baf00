import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rowOrder, uniformInteger } from "./rowOrder.ts";

describe("rowOrder", () => {
  it("holds every row once", () => {
    fc.assert(
      fc.property(fc.nat(200), fc.integer(), fc.nat(), (rows, seed, epoch) => {
        expect([...rowOrder(rows, seed, epoch)].toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: rows }, (_, i) => i),
        );
      }),
    );
  });

  it("is a function of its arguments, and another one for each seed and epoch", () => {
    const orders = [0, 1, 2, -1, 2 ** 31].flatMap((seed) => [0, 1, 2].map((epoch) => rowOrder(50, seed, epoch).join()));
    expect(new Set(orders).size).toBe(orders.length);
    expect(rowOrder(50, 1, 2)).toEqual(rowOrder(50, 1, 2));
  });

  it("puts each row at each place about as often as chance would", () => {
    const [rows, epochs] = [8, 4000];
    const counts = new Float64Array(rows * rows);
    for (let epoch = 0; epoch < epochs; epoch++) {
      for (const [place, row] of rowOrder(rows, 7, epoch).entries()) counts[place * rows + row]!++;
    }
    const expected = epochs / rows;
    const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    // 49 degrees of freedom: mean 49, and 99.99 % of true shuffles lie below 98.
    expect(chiSquare).toBeLessThan(98);
  });
});

describe("uniformInteger", () => {
  it("stays within its bound", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 }), fc.array(fc.integer()), (bound, counters) => {
        const value = uniformInteger(bound, ...counters);
        expect(Number.isInteger(value) && value >= 0 && value < bound).toBe(true);
      }),
    );
  });

  it("differs with the order and the number of its counters", () => {
    const values = [[], [0], [0, 0], [0, 1], [1, 0], [1]].map((counters) => uniformInteger(2 ** 32, ...counters));
    expect(new Set(values).size).toBe(values.length);
  });
});
