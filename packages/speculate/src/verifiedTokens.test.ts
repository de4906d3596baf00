import * as fc from "fast-check";
import { expect, test } from "vitest";
import { verifiedTokens } from "./verifiedTokens.ts";

const commit = (draft: number[], target: number[]) => verifiedTokens(draft, (slot) => target[slot]!);

test("commits what the target would have produced, up to its first own token", () => {
  expect(commit([5, 6, 7], [5, 6, 7, 8])).toEqual([5, 6, 7, 8]);
  expect(commit([5, 6, 7], [5, 9, 7, 8])).toEqual([5, 9]);
  expect(commit([5, 6, 7], [4, 6, 7, 8])).toEqual([4]);
  expect(commit([], [3])).toEqual([3]);
});

test("is a prefix of the target's tokens, whatever was drafted, and asks for no token behind it", () => {
  const token = fc.integer({ min: 0, max: 2 });
  fc.assert(
    fc.property(fc.array(token, { maxLength: 8 }), fc.array(token, { minLength: 9, maxLength: 9 }), (draft, target) => {
      const asked: number[] = [];
      const tokens = verifiedTokens(draft, (slot) => (asked.push(slot), target[slot]!));
      expect(tokens).toEqual(target.slice(0, tokens.length));
      expect(tokens.slice(0, -1)).toEqual(draft.slice(0, tokens.length - 1));
      // The draft has no token there, or another one.
      expect(tokens.at(-1)).not.toBe(draft[tokens.length - 1]);
      expect(asked).toEqual([...tokens.keys()]);
    }),
  );
});
