import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createNames } from "./createNames.ts";
import {
  createBuffer,
  createLine,
  type LineBuffer,
  prepare,
  put,
  putInteger,
  putNumber,
  putText,
  putTime,
} from "./lineBytes.ts";

const text = (write: (buffer: LineBuffer) => number): string => {
  const buffer = createBuffer(4096);
  return new TextDecoder().decode(buffer.bytes.subarray(0, write(buffer)));
};

test("a number is written as JSON writes it", () => {
  const numbers = fc.oneof(
    fc.double(),
    fc.integer(),
    fc.maxSafeInteger(),
    // Of few decimals, and their neighbours.
    fc
      .tuple(fc.nat(), fc.nat({ max: 8 }), fc.constantFrom(1, 1 + Number.EPSILON))
      .map(([n, d, by]) => (n / 10 ** d) * by),
    fc.constantFrom(0, -0, 999, 1000, 1e9, 999_999_999),
  );
  fc.assert(
    fc.property(numbers, (value) => {
      expect(text((b) => putNumber(b, 0, value))).toBe(JSON.stringify(value));
    }),
  );
  expect(text((b) => putNumber(b, 0, null))).toBe("null");
});

test("a time keeps its nanoseconds and no more", () => {
  fc.assert(
    fc.property(fc.nat({ max: 999_999_999 }), fc.nat({ max: 999_999 }), (whole, millionths) => {
      const decimals = String(millionths).padStart(6, "0").replace(/0+$/, "");
      const expected = decimals === "" ? String(whole) : `${whole}.${decimals}`;
      expect(text((b) => putTime(b, 0, Number(`${whole}.${String(millionths).padStart(6, "0")}`)))).toBe(expected);
    }),
  );
});

test("a time that is no multiple of a nanosecond is rounded to one", () => {
  fc.assert(
    fc.property(fc.double({ min: -1e6, max: 1e12, noNaN: true }), (value) => {
      const written = Number(text((b) => putTime(b, 0, value)));
      expect(Math.abs(written - value)).toBeLessThanOrEqual(0.500_001e-6 + Math.abs(value) * 2 ** -52);
    }),
  );
});

test.each([
  [0.999_999_9, "1"],
  [999.999_999_9, "1000"],
  [-0.5, "-0.5"],
  [NaN, "null"],
  [Infinity, "null"],
  [null, "null"],
  [1e300, "1e+300"],
])("the time %s is written as %s", (value, expected) => {
  expect(text((b) => putTime(b, 0, value))).toBe(expected);
});

test("whole numbers are written digit by digit up to 2^53", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => {
      expect(text((b) => putInteger(b, 0, value))).toBe(String(value));
    }),
  );
});

test("text is UTF-8, lone surrogates replaced", () => {
  expect(text((b) => putText(b, 0, "数据 \ud800"))).toBe("数据 \ufffd");
});

test("a line that does not fit is built again in a larger buffer", () => {
  const long = prepare("x".repeat(50_000));
  const line = createLine((b: LineBuffer, times: number) => {
    let at = 0;
    for (let i = 0; i < times; i++) at = putNumber(b, put(b, at, long), i);
    return at;
  });
  expect(new TextDecoder().decode(line(3))).toBe(["0", "1", "2"].map((i) => "x".repeat(50_000) + i).join(""));
});

function fill(b: LineBuffer, parts: (string | number | null)[]): number {
  let at = 0;
  for (const part of parts)
    at =
      typeof part === "string" ? putText(b, put(b, at, prepare(part)), part) : putNumber(b, putTime(b, at, part), part);
  return at;
}

test("a line is the same whatever the size of the buffer that it met first", () => {
  const pieces = fc.array(fc.oneof(fc.string(), fc.double(), fc.nat(), fc.constant(null)), {
    minLength: 1,
    maxLength: 400,
  });
  fc.assert(
    fc.property(fc.array(pieces, { minLength: 1, maxLength: 3 }), (lines) => {
      const line = createLine(fill, 1);
      for (const parts of lines) {
        const roomy = createBuffer(1_000_000);
        expect(Buffer.from(line(parts))).toEqual(Buffer.from(roomy.bytes.subarray(0, fill(roomy, parts))));
      }
    }),
  );
});

test("names beyond any reasonable number do not pile up", () => {
  let made = 0;
  const names = createNames((name) => `${name}${made++}`);
  for (let i = 0; i < 10_000; i++) names(String(i));
  expect(names("9999")).toBe("99999999");
  expect(names("0")).toBe("010000");
});
