import { expect, test } from "vitest";
import { displayWidth, printable } from "./printable.ts";

test.each([
  ["plain text", "plain text"],
  ["ünïcode 数据 👩", "ünïcode 数据 👩"],
  ["a\nb\tc\r", "a?b?c?"],
  ["\u001b[31mred", "?[31mred"],
  ["\u009b31m", "?31m"],
  ["\ud800 \u2028 \u202e", "? ? ?"],
])("%j is printed as %j", (text, expected) => {
  expect(printable(text)).toBe(expected);
});

test.each([
  ["abc", 3],
  ["ünï", 3],
  ["数据", 4],
  ["e\u0301", 1],
  ["👩", 2],
  ["", 0],
])("%s takes %i columns", (text, width) => {
  expect(displayWidth(text)).toBe(width);
});
