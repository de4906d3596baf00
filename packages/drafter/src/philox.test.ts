import { expect, test } from "vitest";
import { philox, uniform } from "./philox.ts";

/** Counter, key and words of `philox4x32 10` in the known-answer file of Random123, the authors' implementation. */
const knownAnswers = [
  ["00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"],
  ["ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"],
  ["243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"],
] as const;

test.each(knownAnswers)("counter %s with key %s gives %s", (counter, key, words) => {
  const out = new Uint32Array(4);
  const [seed, stream] = parse(key);
  philox(parse(counter), [seed!, stream!], out);
  expect([...out]).toEqual(parse(words));
});

test("the counter may be overwritten by the words", () => {
  const words = Uint32Array.from(parse(knownAnswers[2][0]));
  const [seed, stream] = parse(knownAnswers[2][1]);
  philox(words, [seed!, stream!], words);
  expect([...words]).toEqual(parse(knownAnswers[2][2]));
});

test("uniform stays inside (0, 1)", () => {
  expect(uniform(0)).toBeGreaterThan(0);
  expect(uniform(2 ** 32 - 1)).toBeLessThan(1);
});

function parse(words: string): number[] {
  return words.split(" ").map((word) => Number.parseInt(word, 16));
}
