import { startEngine } from "@dflash/engine";
import { expect, test } from "vitest";
import { createOps } from "./createOps.ts";
import { createRotaryTable, rotaryWavelengths } from "./rotaryTable.ts";

/** Cosines at position 30,000 of the first 16 pairs of Qwen3's rope (θ 1e6, head dimension 128), by PyTorch 2.13 on a CPU. */
const pytorch = [
  -0.5964295, -0.7569857, -0.9076381, -0.9063978, -0.9558939, -0.9877259, -0.9999874, -0.6475531, 0.9154977, 0.2293993,
  -0.6745027, -0.3995187, 0.9547337, -0.9819435, -0.9980783, -0.667249,
];

test("a plain table has PyTorch's cosines at position 30,000", async () => {
  const ops = createOps(await startEngine("cpu"));
  const frequencies = rotaryWavelengths(1e6, 128).map((wavelength) => 1 / wavelength);
  const { cos, sin } = createRotaryTable(ops, { frequencies, positions: 30_001 });
  expect([cos.shape, sin.shape]).toEqual([
    [30_001, 64],
    [30_001, 64],
  ]);
  const [cosines, sines] = [await cos.read(), await sin.read()];
  const at = 30_000 * 64;
  pytorch.forEach((cosine, i) => {
    expect(cosines[at + i]).toBeCloseTo(cosine, 6);
    expect(cosines[at + i]! ** 2 + sines[at + i]! ** 2).toBeCloseTo(1, 6);
  });
  ops.engine.dispose();
});

test("a scale multiplies cosines and sines", async () => {
  const ops = createOps(await startEngine("cpu"));
  const { cos, sin } = createRotaryTable(ops, { frequencies: Float32Array.of(0.5), positions: 3, scale: 1.5 });
  const angles = Float32Array.of(0, 0.5, 1);
  const expected = [Math.cos, Math.sin].map((wave) => angles.map((angle) => Math.fround(wave(angle)) * 1.5));
  expect([await cos.read(), await sin.read()]).toEqual(expected);
  ops.engine.dispose();
});
