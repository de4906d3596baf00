import * as fc from "fast-check";
import { expect, test } from "vitest";
import { dPaceWeights } from "./dPaceWeights.ts";

/** Targets of blocks of 4 slots, given by their supervised slots. */
function targetsOf(...blocks: (readonly number[])[]): Parameters<typeof dPaceWeights>[0] {
  const rows = Int32Array.from(blocks.flatMap((slots, block) => slots.map((slot) => 4 * block + slot)));
  return { rows, tokens: new Int32Array(rows.length), labels: new Int32Array(rows.length), rowCount: 1 };
}

const losses = [Math.log(2), Math.log(4), Math.log(1.25)];

test("the worked example: confidences ½, ¼ and ⅘, smoothed by α = ½", () => {
  const weights = dPaceWeights(targetsOf([1, 2, 3]), losses, 4, 0.5);
  expect([...weights]).toEqual([1.640625, 0.890625, 0.421875]);
});

test("a slot without supervision leaves the prefix as it is and weighs nothing", () => {
  expect([...dPaceWeights(targetsOf([1, 2]), losses, 4, 0.5)]).toEqual([1.21875, 0.46875]);
});

test("blocks are weighed apart", () => {
  const weights = dPaceWeights(targetsOf([1, 2, 3], [1, 2]), [...losses, ...losses], 4, 0.5);
  expect([...weights]).toEqual([1.640625, 0.890625, 0.421875, 1.21875, 0.46875]);
});

test("α 1 counts the slots that are left, α 0 takes the confidences as they are", () => {
  expect([...dPaceWeights(targetsOf([1, 3]), losses, 4, 1)]).toEqual([2, 1]);
  const [first, second] = dPaceWeights(targetsOf([1, 2]), losses, 4, 0);
  expect(first).toBeCloseTo(1 / 2 + 1 / 8, 6);
  expect(second).toBeCloseTo(1 / 8, 6);
});

test("as the formula over all slots has it, written out in loops", () => {
  const slot = fc.record({ supervised: fc.boolean(), loss: fc.double({ min: 0, max: 9, noNaN: true }) });
  fc.assert(
    fc.property(
      fc.array(fc.array(slot, { minLength: 3, maxLength: 3 }), { maxLength: 4 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (blocks, alpha) => {
        const expected: number[] = [];
        for (const slots of blocks) {
          const smoothed = slots.map(({ supervised, loss }) =>
            supervised ? (1 - alpha) * Math.exp(-loss) + alpha : 1,
          );
          for (const [j, { supervised }] of slots.entries()) {
            if (!supervised) continue;
            let weight = 0;
            for (let m = j; m < slots.length; m++) {
              let prefix = 1;
              for (let i = 0; i <= m; i++) prefix *= smoothed[i]!;
              if (slots[m]!.supervised) weight += prefix;
            }
            expected.push(weight);
          }
        }
        const targets = targetsOf(
          ...blocks.map((slots) => slots.flatMap(({ supervised }, i) => (supervised ? [i + 1] : []))),
        );
        const rowLosses = blocks.flatMap((slots) =>
          slots.flatMap(({ supervised, loss }) => (supervised ? [loss] : [])),
        );
        const weights = dPaceWeights(targets, rowLosses, 4, alpha);
        expect(weights).toHaveLength(expected.length);
        for (const [i, weight] of expected.entries()) expect(Math.abs(weights[i]! - weight)).toBeLessThan(1e-6);
      },
    ),
  );
});
