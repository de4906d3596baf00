/** Castagnoli's polynomial, reflected. */
const polynomial = 0x82f63b78;

/** For four bytes at once: what a byte does to the checksum with 0, 1, 2 and 3 bytes behind it. */
const tables = [new Int32Array(256), new Int32Array(256), new Int32Array(256), new Int32Array(256)] as const;
for (let byte = 0; byte < 256; byte++) {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1;
  tables[0][byte] = value;
}
for (let behind = 1; behind < 4; behind++) {
  tables[behind]!.forEach((_, byte, table) => {
    const before = tables[behind - 1]![byte]!;
    table[byte] = (before >>> 8) ^ tables[0][before & 255]!;
  });
}
const [last, third, second, first] = tables;

/** CRC-32C (RFC 3720, appendix B.4) of `bytes` from `start` to `end`. */
export function crc32c(bytes: Uint8Array, start: number = 0, end: number = bytes.length): number {
  let crc = -1;
  let i = start;
  for (; i + 4 <= end; i += 4) {
    crc =
      first[(crc ^ bytes[i]!) & 255]! ^
      second[((crc >>> 8) ^ bytes[i + 1]!) & 255]! ^
      third[((crc >>> 16) ^ bytes[i + 2]!) & 255]! ^
      last[(crc >>> 24) ^ bytes[i + 3]!]!;
  }
  for (; i < end; i++) crc = last[(crc ^ bytes[i]!) & 255]! ^ (crc >>> 8);
  return (crc ^ -1) >>> 0;
}
