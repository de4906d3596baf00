import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { float16ToFloat32, float32ToFloat16 } from "./float16.ts";

const allBits = Uint16Array.from({ length: 65_536 }, (_, bits) => bits);
const values = float16ToFloat32(allBits);

/** Nearest float16, ties to even, by looking at every finite one (0x0000 … 0x7bff are in ascending order). */
function nearest(magnitude: number): number {
  let best = 0;
  for (let bits = 1; bits <= 0x7c00; bits++) {
    // Where the value after the largest would stand: beyond the midpoint lies infinity.
    const candidate = bits === 0x7c00 ? 65_536 : values[bits]!;
    const current = values[best]!;
    const closer = Math.abs(candidate - magnitude) - Math.abs(current - magnitude);
    if (closer < 0 || (closer === 0 && bits % 2 === 0)) best = bits;
  }
  return best;
}

describe("float16", () => {
  it.each([
    [0x0000, 0],
    [0x0001, 2 ** -24],
    [0x03ff, 1023 * 2 ** -24],
    [0x0400, 2 ** -14],
    [0x3555, 0.333251953125],
    [0x3c00, 1],
    [0xc000, -2],
    [0x7bff, 65_504],
    [0x7c00, Infinity],
    [0xfc00, -Infinity],
    [0x8000, -0],
    [0x7c01, NaN],
  ])("widens %i to %f", (bits, value) => {
    expect(values[bits]).toBe(value);
  });

  it("gives all 65,536 values back unchanged, and NaN as NaN", () => {
    const bits = float32ToFloat16(values);
    expect(allBits.filter((_, i) => !Number.isNaN(values[i]) && bits[i] !== i)).toHaveLength(0);
    expect(allBits.filter((_, i) => Number.isNaN(values[i]) && !Number.isNaN(values[bits[i]!]))).toHaveLength(0);
  });

  it("rounds every midpoint between neighbours to the even one, and its float32 neighbours to theirs", () => {
    const midpoints = Float32Array.from({ length: 0x7bff }, (_, i) => (values[i]! + values[i + 1]!) / 2);
    const words = new Uint32Array(midpoints.buffer);
    expect(float32ToFloat16(midpoints)).toEqual(Uint16Array.from(midpoints, (_, i) => i + (i % 2)));
    expect(float32ToFloat16(new Float32Array(words.map((word) => word - 1).buffer))).toEqual(
      Uint16Array.from(midpoints, (_, i) => i),
    );
    expect(float32ToFloat16(new Float32Array(words.map((word) => word + 1).buffer))).toEqual(
      Uint16Array.from(midpoints, (_, i) => i + 1),
    );
  });

  it("rounds to the nearest value, ties to even, up to infinity", () => {
    const magnitude = fc.oneof(
      fc.float({ min: 0, max: 2 ** -13, noNaN: true }),
      fc.float({ min: 0, max: 70_000, noNaN: true }),
      fc.constantFrom(65_519, 65_520, 65_521, 2 ** -25, 2 ** -149, 1e30),
    );
    fc.assert(
      fc.property(magnitude, (value) => {
        const expected = nearest(value);
        expect(float32ToFloat16(new Float32Array([value, -value]))).toEqual(
          new Uint16Array([expected, 0x8000 + expected]),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("converts in place when the bits lie in the second half of the result", () => {
    const bits = float32ToFloat16(Float32Array.from({ length: 1001 }, (_, i) => Math.sin(i)));
    const out = new Float32Array(bits.length);
    const second = new Uint16Array(out.buffer, bits.byteLength);
    second.set(bits);
    expect(float16ToFloat32(second, out)).toEqual(float16ToFloat32(bits));
  });
});
