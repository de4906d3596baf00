/**
 * Widens bfloat16 bits to float32, exactly.
 * `out` may share memory with `bits` if `bits` lies in the second half of it: the conversion runs forwards.
 */
export function bfloat16ToFloat32(bits: Uint16Array, out: Float32Array = new Float32Array(bits.length)): Float32Array {
  const words = new Uint32Array(out.buffer, out.byteOffset, out.length);
  for (let i = 0; i < bits.length; i++) words[i] = bits[i]! << 16;
  return out;
}

/** Rounds float32 to bfloat16 bits: to nearest, ties to even; NaN stays NaN, quiet. */
export function float32ToBfloat16(values: Float32Array): Uint16Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const bits = new Uint16Array(values.length);
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const isNaN = (word & 0x7fff_ffff) > 0x7f80_0000;
    bits[i] = isNaN ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return bits;
}
