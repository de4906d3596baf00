import type { Ops, RotaryTable } from "./ops.ts";

/**
 * The wavelength of each pair of dimensions over 2π, θ^(2i / D) for i < D / 2; a plain rotary embedding's frequencies are their
 * reciprocals.
 *
 * Every operation is rounded to float32 as PyTorch's are: at position 30,000 one unit in the last place of a frequency is
 * 2e-3 in its cosine, so wavelengths computed in float64 would not be the ones that published models were trained with.
 */
export function rotaryWavelengths(theta: number, headDim: number): Float32Array {
  return Float32Array.from({ length: headDim / 2 }, (_, i) => theta ** Math.fround((2 * i) / headDim));
}

/** What a rotary table is made of. */
export interface RotaryTableOptions {
  /** Radians a position of each pair of dimensions, [headDim / 2], float32. */
  frequencies: Float32Array;
  /** Positions that the table holds, from 0. */
  positions: number;
  /** Factor of cosines and sines, 1 unless given. */
  scale?: number;
}

/** Puts the cosines and sines of all positions on the engine. Angles are rounded to float32 as PyTorch's are. */
export function createRotaryTable(
  { upload }: Pick<Ops, "upload">,
  { frequencies, positions, scale = 1 }: RotaryTableOptions,
): RotaryTable {
  const half = frequencies.length;
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  for (let position = 0, at = 0; position < positions; position++) {
    for (const frequency of frequencies) {
      const angle = Math.fround(position * frequency);
      cos[at] = Math.fround(Math.cos(angle)) * scale;
      sin[at++] = Math.fround(Math.sin(angle)) * scale;
    }
  }
  const shape = [positions, half];
  return { cos: upload(cos, shape, { frozen: true }), sin: upload(sin, shape, { frozen: true }) };
}
