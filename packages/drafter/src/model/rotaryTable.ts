import { createRotaryTable, type Ops, type RotaryTable, rotaryWavelengths } from "@dflash/ops";

/** Cosines and sines of a rotary embedding with the default frequencies, θ^(−2i / D), rounded as the published model's. */
export function rotaryTable(ops: Ops, positions: number, headDim: number, theta: number): RotaryTable {
  const frequencies = rotaryWavelengths(theta, headDim).map((wavelength) => 1 / wavelength);
  return createRotaryTable(ops, { frequencies, positions });
}
