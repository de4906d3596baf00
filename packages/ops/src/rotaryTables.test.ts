import * as fc from "fast-check";
import { expect, test } from "vitest";
import { describeOps } from "./describeOps.test-support.ts";
import type { RotaryTable } from "./ops.ts";
import { createRotaryTables, rotaryWavelengths } from "./rotaryTables.ts";

/** Cosines at position 30,000 of the first 16 pairs of Qwen3's rope (θ 1e6, head dimension 128), by PyTorch 2.13 on a CPU. */
const pytorch = [
  -0.5964295, -0.7569857, -0.9076381, -0.9063978, -0.9558939, -0.9877259, -0.9999874, -0.6475531, 0.9154977, 0.2293993,
  -0.6745027, -0.3995187, 0.9547337, -0.9819435, -0.9980783, -0.667249,
];

const plain = (theta: number, headDim: number): Float32Array =>
  rotaryWavelengths(theta, headDim).map((wavelength) => 1 / wavelength);

/** Cosines and sines of a position. */
async function read({ cos, sin }: RotaryTable, position: number): Promise<[Float32Array, Float32Array]> {
  const half = cos.shape[1]!;
  const row = async (table: typeof cos) =>
    Float32Array.from(await table.read()).slice(position * half, (position + 1) * half);
  return [await row(cos), await row(sin)];
}

describeOps((ops) => {
  test("a plain table has PyTorch's cosines at position 30,000", async () => {
    const tables = createRotaryTables(ops(), { frequencies: plain(1e6, 128), mostPositions: 30_001 });
    const table = tables.covering(30_001);
    expect([table.cos.shape, table.sin.shape]).toEqual([
      [30_001, 64],
      [30_001, 64],
    ]);
    const [cosines, sines] = await read(table, 30_000);
    pytorch.forEach((cosine, i) => {
      expect(cosines[i]).toBeCloseTo(cosine, 6);
      expect(cosines[i]! ** 2 + sines[i]! ** 2).toBeCloseTo(1, 6);
    });
    tables.dispose();
  });

  test("far positions turn as far as in exact arithmetic, up to the rounding of their angle", async () => {
    const tables = createRotaryTables(ops(), { frequencies: plain(10_000, 8) });
    for (const position of [0, 1, 100, 30_000]) {
      const [cosines, sines] = await read(tables.covering(position + 1), position);
      for (let i = 0; i < 4; i++) {
        const angle = position * 10_000 ** (-i / 4);
        // Angle and frequency are float32, each off by at most 2^-24 of itself; so are the table's values.
        const tolerance = angle * 2 ** -22 + 2 ** -22;
        expect(Math.abs(cosines[i]! - Math.cos(angle))).toBeLessThan(tolerance);
        expect(Math.abs(sines[i]! - Math.sin(angle))).toBeLessThan(tolerance);
      }
    }
    tables.dispose();
  });

  test("a scale multiplies cosines and sines", async () => {
    const tables = createRotaryTables(ops(), { frequencies: Float32Array.of(0.5), scale: 1.5 });
    const angle = Math.fround(1);
    const expected = [Math.cos, Math.sin].map((wave) => Float32Array.of(Math.fround(wave(angle)) * 1.5));
    expect(await read(tables.covering(3), 2)).toEqual(expected);
    tables.dispose();
  });

  test("what has been asked for decides how long a table is; it never holds twice as much, nor more than the most", async () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(lengths, fc.integer({ min: 1, max: 300 }), (asked, mostPositions) => {
        const tables = createRotaryTables(ops(), { frequencies: plain(100, 4), mostPositions });
        for (const [i, positions] of asked.entries()) {
          const longest = Math.min(Math.max(...asked.slice(0, i + 1)), mostPositions);
          const [held = 0] = tables.covering(positions).cos.shape;
          expect(held).toBeGreaterThanOrEqual(longest);
          expect(held).toBeLessThanOrEqual(Math.min(2 * longest - 1, mostPositions));
        }
        tables.dispose();
      }),
      { numRuns: 20 },
    );
  });

  test("a table made in a scope outlives it, and a recording its table", async () => {
    const { scope, record, upload, rotary, linear } = ops();
    const tables = createRotaryTables(ops(), { frequencies: plain(100, 4) });
    const weight = upload(
      Float32Array.from({ length: 16 }, (_, i) => i),
      [4, 4],
    );
    const x = upload(Float32Array.of(1, 2, 3, 4), [1, 4]);
    const dy = upload(Float32Array.of(1, -1, 0.5, 2), [1, 1, 4]);
    const gradient = async (grow: boolean): Promise<Float32Array> => {
      const recording = record([weight], () => ({
        output: rotary(ops().reshape(linear(x, weight), [1, 1, 4]), tables.covering(4), Int32Array.of(3)),
      }));
      if (grow) scope(() => tables.covering(100));
      const [found] = recording.backward(dy);
      const values = Float32Array.from(await found!.read());
      for (const tensor of [found!, recording.outputs.output]) tensor.dispose();
      return values;
    };
    const [grown, again] = [await gradient(true), await gradient(false)];
    expect(grown).toEqual(again);
    for (const part of [tables, weight, x, dy]) part.dispose();
  });
});
