import { expect, test } from "vitest";
import { createSequence } from "./sequence.ts";

const state = { number: 0, cache: { length: 0, crop: () => {}, dispose: () => {} }, drafterCache: null };
const start = (maxNewTokens: number) => createSequence(0, { maxNewTokens, stopIds: new Set([9]) }, state);

test("ends with the first stop token and counts the round's tokens behind it", () => {
  const sequence = start(10);
  expect(sequence.commit([4])).toEqual([4]);
  expect(sequence.last).toBe(4);
  expect(sequence.finish).toBeNull();
  expect(sequence.commit([5, 9, 6, 9])).toEqual([5, 9]);
  expect(sequence.result()).toEqual({ ids: Int32Array.of(4, 5, 9), finish: "stop", acceptanceLengths: [4] });
});

test("ends at the limit, and a stop token behind the limit is none", () => {
  const sequence = start(3);
  sequence.commit([4]);
  expect(sequence.commit([5, 6, 9])).toEqual([5, 6]);
  expect(sequence.result()).toEqual({ ids: Int32Array.of(4, 5, 6), finish: "length", acceptanceLengths: [3] });
});

test("a stop token may come first, or last within the limit", () => {
  const first = start(3);
  first.commit([9]);
  expect(first.result()).toEqual({ ids: Int32Array.of(9), finish: "stop", acceptanceLengths: [] });
  const last = start(2);
  last.commit([4]);
  last.commit([9]);
  expect(last.finish).toBe("stop");
});

test("what the signal cut short says so", () => {
  const sequence = start(3);
  sequence.commit([4]);
  expect(sequence.result().finish).toBe("signal");
});
