import { expect, test } from "vitest";
import { addMatches, blockRates, countMatches } from "./blockMatches.ts";

/** Blocks of 4 slots by what became of slots 1 to 3: right "1", wrong "0", not supervised "-". The i-th supervised slot has loss i. */
function matchesOf(...patterns: string[]): ReturnType<typeof countMatches> {
  const slots = patterns.flatMap((pattern, block) =>
    Array.from(pattern).flatMap((outcome, i) =>
      outcome === "-" ? [] : [{ row: 4 * block + i + 1, right: outcome === "1" }],
    ),
  );
  const targets = {
    rows: Int32Array.from(slots, ({ row }) => row),
    tokens: new Int32Array(slots.length),
    labels: new Int32Array(slots.length).fill(7),
    rowCount: 1,
  };
  const predictions = slots.map(({ right }) => (right ? 7 : 8));
  return countMatches(targets, { predictions, rowLosses: slots.map((_, i) => i) }, 4);
}

test("acceptance follows each block's own prefix, not the product of the slots' accuracies", () => {
  const rates = blockRates(matchesOf("110", "011"));
  // (2 + 0) / 2 and the target's token; the product of .5, 1 and .5 would give 1.25.
  expect(rates.acceptanceLength).toBe(2);
  expect(rates.accuracyBySlot).toEqual([0.5, 1, 0.5]);
  expect(rates.accuracy).toBe(4 / 6);
});

test("slots without supervision neither break a prefix nor count", () => {
  expect(blockRates(matchesOf("1-1"))).toMatchObject({ acceptanceLength: 3, accuracyBySlot: [1, null, 1] });
  expect(blockRates(matchesOf("-10"))).toMatchObject({ acceptanceLength: 2 });
});

test("a block without supervision is no block", () => {
  expect(matchesOf("---", "110")).toMatchObject({ blocks: 1, accepted: 2 });
});

test("sums of two batches give the ratio of both, counted before divided", () => {
  const [a, b] = [matchesOf("111"), matchesOf("000", "0--", "---")];
  const { losses: _, ...both } = matchesOf("111", "000", "0--", "---");
  const sums = addMatches(a, b);
  expect(sums).toMatchObject(both);
  expect(blockRates(sums).acceptanceLength).toBe(1 + 3 / 3);
  expect(sums.losses).toEqual(Float64Array.of(0, 0 + 0 + 3, 1 + 1, 2 + 2));
});

test("losses are averaged by slot", () => {
  expect(blockRates(matchesOf("1-1", "0--")).lossBySlot).toEqual([(0 + 2) / 2, null, 1]);
});

test("nothing supervised, no rates", () => {
  expect(blockRates(matchesOf("---"))).toEqual({
    accuracy: null,
    accuracyBySlot: [null, null, null],
    lossBySlot: [null, null, null],
    acceptanceLength: null,
  });
});
