import * as fc from "fast-check";
import { expect, test } from "vitest";
import { stepCost } from "./stepCost.ts";
import { suggestBatches } from "./suggestBatches.ts";

const size = fc.integer({ min: 1, max: 1000 });
const price = fc.double({ min: 0, max: 1000, noNaN: true });

test("runs that cost so much a token and so much a slot are priced by just that", () =>
  fc.assert(
    fc.property(size, size, size, size, price, price, price, (tokens, slots, more, evenMore, each, slot, fixed) => {
      const run = (t: number, s: number) => {
        const cost = fixed + each * t + slot * s;
        return { tokens: t, slots: s, bytes: cost, ms: 2 * cost };
      };
      const cost = stepCost([run(tokens, slots), run(tokens, slots + more), run(tokens + evenMore, slots + 1)]);
      expect(cost.bytes(7, 9)).toBeCloseTo(fixed + 7 * each + 9 * slot, 4);
      expect(cost.ms(7, 9)).toBeCloseTo(2 * (fixed + 7 * each + 9 * slot), 4);
    }),
  ));

test("suggested rows fit, and twice as many don't", () => {
  const cost = { bytes: (tokens: number, slots: number) => 100 + tokens + 2 * slots, ms: () => 1 };
  const found = suggestBatches({ cost, bytes: 40_000, maxLength: 64, blockSize: 8 });
  // 576 a row of 32 anchors, 1088 of 64; more anchors than tokens there can't be.
  expect(found.map(({ rows, anchors }) => [rows, anchors])).toEqual([
    [64, 32],
    [32, 64],
  ]);
  for (const { bytes } of found) expect(bytes).toBeLessThanOrEqual(40_000);
  expect(suggestBatches({ cost, bytes: 120, maxLength: 64, blockSize: 8 })).toEqual([]);
});
