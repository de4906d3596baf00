import { expect, test } from "vitest";
import { fifths } from "./fifths.ts";

test("each fifth is averaged on its own", () => {
  expect(fifths([1, 3, 5, 7, 9, 11, 13, 15, 17, 19])).toEqual([2, 6, 10, 14, 18]);
});

test("missing values don't count, and a fifth without values is null", () => {
  expect(fifths([1, null, null, null, 4, 6, 5, 5, 8, 8])).toEqual([1, null, 5, 5, 8]);
  expect(fifths([2, 4])).toEqual([null, null, 2, null, 4]);
});
