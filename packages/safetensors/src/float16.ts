/**
 * Widens float16 (IEEE binary16) bits to float32, exactly.
 * `out` may share memory with `bits` if `bits` lies in the second half of it: the conversion runs forwards.
 */
export function float16ToFloat32(bits: Uint16Array, out: Float32Array = new Float32Array(bits.length)): Float32Array {
  for (let i = 0; i < bits.length; i++) {
    const half = bits[i]!;
    const exponent = (half >>> 10) & 0x1f;
    const fraction = half & 0x3ff;
    const sign = half & 0x8000 ? -1 : 1;
    if (exponent === 0) out[i] = sign * fraction * 2 ** -24;
    else if (exponent === 31) out[i] = fraction === 0 ? sign * Infinity : NaN;
    else out[i] = sign * (1024 + fraction) * 2 ** (exponent - 25);
  }
  return out;
}

/** Rounds float32 to float16 bits: to nearest, ties to even; above 65,504 to infinity; NaN stays NaN, quiet. */
export function float32ToFloat16(values: Float32Array): Uint16Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const bits = new Uint16Array(values.length);
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    bits[i] = ((word >>> 16) & 0x8000) | magnitudeToFloat16(word & 0x7fff_ffff);
  }
  return bits;
}

function magnitudeToFloat16(word: number): number {
  if (word > 0x7f80_0000) return 0x7e00;
  const exponent = (word >>> 23) - 127;
  if (exponent > 15) return 0x7c00;
  if (exponent < -25) return 0;
  // Normal: drop 13 fraction bits and move the bias from 127 to 15. Subnormal: count in units of 2^-24.
  const significand = (word & 0x7f_ffff) | 0x80_0000;
  const dropped = exponent < -14 ? -1 - exponent : 13;
  const truncated = exponent < -14 ? significand >>> dropped : (word - (112 << 23)) >>> 13;
  const remainder = significand & ((1 << dropped) - 1);
  const half = 1 << (dropped - 1);
  // A carry out of the fraction is right as it stands: it goes into the exponent, and up to infinity.
  return remainder > half || (remainder === half && truncated & 1) ? truncated + 1 : truncated;
}
