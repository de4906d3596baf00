/** The exponent of what is no finite number, and its lowest bit. */
const exponent = 0x7f80_0000;
const lowest = 0x0080_0000;

/** Where the first NaN or infinity stands in an array, -1 when every value is finite. */
export function firstNonFinite(values: Float32Array): number {
  const words = new Int32Array(values.buffer, values.byteOffset, values.length);
  let at = 0;
  // Four at a time, since a checkpoint has billions: an exponent of ones carries into the sign.
  for (; at + 3 < words.length; at += 4) {
    const carries =
      ((words[at]! & exponent) + lowest) |
      ((words[at + 1]! & exponent) + lowest) |
      ((words[at + 2]! & exponent) + lowest) |
      ((words[at + 3]! & exponent) + lowest);
    if (carries < 0) break;
  }
  for (; at < words.length; at++) if ((words[at]! & exponent) === exponent) return at;
  return -1;
}
