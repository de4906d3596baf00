import { expect, test } from "vitest";
import { crc32c } from "./crc32c.ts";

const ascending = Uint8Array.from({ length: 32 }, (_, i) => i);

/** RFC 3720, appendix B.4, and the check value of the CRC catalogue. */
test.each([
  ["32 zeros", new Uint8Array(32), 0x8a9136aa],
  ["32 ones", new Uint8Array(32).fill(255), 0x62a8ab43],
  ["32 ascending bytes", ascending, 0x46dd794e],
  ["32 descending bytes", ascending.toReversed(), 0x113fdb5c],
  ["123456789", new TextEncoder().encode("123456789"), 0xe3069283],
  ["nothing", new Uint8Array(), 0],
])("CRC-32C of %s", (_, bytes, expected) => {
  expect(crc32c(bytes)).toBe(expected);
});

test("a part of an array", () => {
  expect(crc32c(Uint8Array.from([9, ...ascending, 9]), 1, 33)).toBe(0x46dd794e);
});

test("in pieces of any length, as the bit by bit definition has it", () => {
  const bytes = Uint8Array.from({ length: 40 }, (_, i) => (i * 37 + 11) & 255);
  for (let length = 0; length <= bytes.length; length++) {
    let crc = 0xffffffff;
    for (const byte of bytes.subarray(0, length)) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    }
    expect(crc32c(bytes, 0, length)).toBe((crc ^ 0xffffffff) >>> 0);
  }
});
