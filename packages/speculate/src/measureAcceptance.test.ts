import * as fc from "fast-check";
import { expect, test } from "vitest";
import { measureAcceptance } from "./measureAcceptance.ts";

const answers = (...lengths: number[][]) => lengths.map((acceptanceLengths) => ({ acceptanceLengths }));

test("pooled over rounds and over responses are two figures", () => {
  // 2 rounds with 4 tokens, 8 rounds with 48.
  const found = measureAcceptance(answers([1, 3], [], Array<number>(8).fill(6)), 8);
  expect(found).toEqual({
    rounds: 10,
    pooled: 5.2,
    perResponse: 4,
    histogram: [1, 0, 1, 0, 0, 8, 0, 0],
    bySlot: [0.9, 0.9, 0.8, 0.8, 0.8, 0, 0],
  });
});

test("without a round nothing is claimed", () => {
  expect(measureAcceptance(answers([]), 3)).toEqual({
    rounds: 0,
    pooled: null,
    perResponse: null,
    histogram: [0, 0, 0],
    bySlot: null,
  });
});

test("the histogram holds every round, and the shares by slot add up to the pooled length", () => {
  const lengths = fc.array(fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1 }), { minLength: 1 });
  fc.assert(
    fc.property(lengths, (given) => {
      const { rounds, pooled, histogram, bySlot } = measureAcceptance(answers(...given), 6);
      expect(histogram.reduce((sum, count) => sum + count, 0)).toBe(rounds);
      expect(1 + bySlot!.reduce((sum, share) => sum + share, 0)).toBeCloseTo(pooled!, 9);
    }),
  );
});
