import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bfloat16ToFloat32, float32ToBfloat16 } from "./bfloat16.ts";

const allBits = Uint16Array.from({ length: 65_536 }, (_, bits) => bits);

/** The value of bfloat16 bits by the definition of the format: 8 exponent bits, 7 fraction bits. */
function valueOf(bits: number): number {
  const sign = bits >= 0x8000 ? -1 : 1;
  const exponent = Math.floor(bits / 128) % 256;
  const fraction = (bits % 128) / 128;
  if (exponent === 255) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -126 : sign * (1 + fraction) * 2 ** (exponent - 127);
}

describe("bfloat16", () => {
  it("widens all 65,536 values exactly", () => {
    expect(bfloat16ToFloat32(allBits)).toEqual(Float32Array.from(allBits, valueOf));
  });

  it("gives every value back unchanged, and NaN as NaN", () => {
    const values = bfloat16ToFloat32(allBits);
    const bits = float32ToBfloat16(values);
    expect(allBits.filter((_, i) => !Number.isNaN(values[i]) && bits[i] !== i)).toHaveLength(0);
    expect(allBits.filter((_, i) => Number.isNaN(values[i]) && !Number.isNaN(valueOf(bits[i]!)))).toHaveLength(0);
  });

  it("keeps NaN whose payload lies in the dropped bits", () => {
    const values = new Float32Array(new Uint32Array([0x7f80_0001, 0xff80_ffff]).buffer);
    expect(Array.from(float32ToBfloat16(values), valueOf)).toEqual([NaN, NaN]);
  });

  it("rounds to the nearest value, ties to even", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.nat(0x7f7f_ffff),
          fc.nat(0x7f7f).map((bits) => bits * 65_536 + 0x8000),
        ),
        (word) => {
          const value = new Float32Array(new Uint32Array([word]).buffer)[0]!;
          const below = Math.floor(word / 65_536);
          // The first value that doesn't exist stands where the next one would be: 2^128.
          const above = below === 0x7f7f ? 2 ** 128 : valueOf(below + 1);
          const [down, up] = [value - valueOf(below), above - value];
          const expected = down < up || (down === up && below % 2 === 0) ? below : below + 1;
          expect(float32ToBfloat16(new Float32Array([value, -value]))).toEqual(
            new Uint16Array([expected, 0x8000 + expected]),
          );
        },
      ),
    );
  });

  it("converts in place when the bits lie in the second half of the result", () => {
    const bits = float32ToBfloat16(Float32Array.from({ length: 1001 }, (_, i) => Math.sin(i)));
    const out = new Float32Array(bits.length);
    const second = new Uint16Array(out.buffer, bits.byteLength);
    second.set(bits);
    expect(bfloat16ToFloat32(second, out)).toEqual(bfloat16ToFloat32(bits));
  });
});
