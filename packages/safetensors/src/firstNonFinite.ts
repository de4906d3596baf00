/** Where the first NaN or infinity stands in an array, -1 when every value is finite. */
export function firstNonFinite(values: Float32Array): number {
  // On the bits: an exponent of ones. A call a value would cost more than reading a checkpoint does.
  const words = new Int32Array(values.buffer, values.byteOffset, values.length);
  for (let i = 0; i < words.length; i++) if ((words[i]! & 0x7f80_0000) === 0x7f80_0000) return i;
  return -1;
}
