import type { Ops, RotaryTable } from "@dflash/ops";

/**
 * Cosines and sines of a rotary embedding with the default frequencies, θ^(−2i / D). Angles are rounded to float32 as
 * in the published model, so that far positions turn by the same amount.
 */
export function rotaryTable(ops: Ops, positions: number, headDim: number, theta: number): RotaryTable {
  const half = headDim / 2;
  const frequencies = Float32Array.from({ length: half }, (_, i) => 1 / theta ** ((2 * i) / headDim));
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  for (let position = 0, at = 0; position < positions; position++) {
    for (let i = 0; i < half; i++, at++) {
      const angle = Math.fround(position * frequencies[i]!);
      cos[at] = Math.cos(angle);
      sin[at] = Math.sin(angle);
    }
  }
  const shape = [positions, half];
  return { cos: ops.upload(cos, shape, { frozen: true }), sin: ops.upload(sin, shape, { frozen: true }) };
}
