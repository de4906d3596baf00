import * as fc from "fast-check";
import { expect, test } from "vitest";
import { describeOps } from "./describeOps.test-support.ts";
import { createKeyValueCache } from "./keyValueCache.ts";
import { randomValues } from "./opMismatch.test-support.ts";

const [layers, kvHeads, headDim] = [2, 2, 4];
const size = kvHeads * headDim;

/** What is done to one of three sequences. */
const action = fc.record({
  sequence: fc.nat(2),
  what: fc.constantFrom("add", "add", "drop", "crop", "dispose"),
  amount: fc.integer({ min: 1, max: 70 }),
});

describeOps((ops) => {
  test("sequences that grow, shrink, end and begin hold what arrays would", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 8 }), async (actions) => {
        const cache = createKeyValueCache({ ops: ops(), name: "cache", layers, kvHeads, headDim });
        const sequences = [0, 1, 2].map(() => cache.open());
        const expected: number[][][] = [[], [], []];
        for (const [step, { sequence: which, what, amount }] of actions.entries()) {
          const [sequence, rows] = [sequences[which]!, expected[which]!];
          if (what === "crop") sequence.crop((rows.length = Math.min(rows.length, amount)));
          if (what === "dispose") {
            sequence.dispose();
            sequences[which] = cache.open();
            expected[which] = [];
          }
          if (what === "crop" || what === "dispose") continue;
          // Two sequences at a time, the second by one position.
          const other = (which + 1) % 3;
          const additions = [
            { sequence, count: amount },
            { sequence: sequences[other]!, count: 1 },
          ];
          const places = ops().scope(() => cache.place(additions));
          expect(Array.from(places.positions)).toEqual([
            ...Array.from({ length: amount }, (_, i) => rows.length + i),
            expected[other]!.length,
          ]);
          const added = randomValues((amount + 1) * size, step);
          for (let layer = 0; layer < layers; layer++) {
            const keys = ops().upload(
              added.map((value) => value + layer),
              [amount + 1, kvHeads, headDim],
            );
            const values = ops().upload(
              added.map((value) => value - layer),
              [amount + 1, kvHeads, headDim],
            );
            cache.write(layer, places, { keys, values });
            for (const tensor of [keys, values]) tensor.dispose();
          }
          // What is not kept leaves nothing behind.
          if (what === "drop") continue;
          places.keep();
          const lines = Array.from({ length: amount + 1 }, (_, i) =>
            Array.from(added.subarray(i * size, (i + 1) * size)),
          );
          expected[which]!.push(...lines.slice(0, amount));
          expected[other]!.push(lines[amount]!);
        }
        expect(sequences.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
        const nothing = { keys: ops().zeros([0, kvHeads, headDim]), values: ops().zeros([0, kvHeads, headDim]) };
        const places = cache.place(sequences.map((sequence) => ({ sequence, count: 0 })));
        for (let layer = 0; layer < layers && places.keyLength > 0; layer++) {
          const { keys, values } = cache.write(layer, places, nothing);
          const [allKeys, allValues] = [await keys.read(), await values.read()];
          for (const [i, rows] of expected.entries()) {
            const start = places.starts[i]! * size;
            const held = Float32Array.from(rows.flat());
            expect(allKeys.slice(start, start + held.length)).toEqual(held.map((value) => value + layer));
            expect(allValues.slice(start, start + held.length)).toEqual(held.map((value) => value - layer));
          }
        }
        for (const part of [...sequences, ...Object.values(nothing)]) part.dispose();
      }),
      { numRuns: 10 },
    );
  });

  test("refuses sequences that aren't its own, and lengths that aren't there", () => {
    const cache = createKeyValueCache({ ops: ops(), name: "cache", layers, kvHeads, headDim });
    const [own, gone, foreign] = [
      cache.open(),
      cache.open(),
      createKeyValueCache({ ops: ops(), name: "other", layers, kvHeads, headDim }).open(),
    ];
    gone.dispose();
    const place = (...sequences: (typeof own)[]) => cache.place(sequences.map((sequence) => ({ sequence, count: 1 })));
    for (const sequence of [gone, foreign])
      expect(() => place(own, sequence)).toThrow(
        "cache: the sequence of row 1 is of another model or disposed, expected one of its own, once",
      );
    expect(() => place(own, own)).toThrow("cache: the sequence of row 1 is named twice, expected");
    expect(() => own.crop(1)).toThrow("cache: length is 1, expected an integer from 0 to 0");
    expect(() => own.crop(0.5)).toThrow("cache: length is 0.5, expected an integer from 0 to 0");
    own.dispose();
  });
});
