import { expect, test } from "vitest";
import { targetLayerIds } from "./targetLayerIds.ts";

test("the layers of published drafters", () => {
  expect(targetLayerIds(36, 5)).toEqual([1, 9, 17, 25, 33]);
  expect(targetLayerIds(48, 5)).toEqual([1, 12, 23, 34, 45]);
});

test("a tie rounds to the even layer, as in Python", () => {
  // 1 + 3/2 = 2.5 and 1 + 5/2 = 3.5
  expect(targetLayerIds(7, 3)).toEqual([1, 2, 4]);
  expect(targetLayerIds(9, 3)).toEqual([1, 4, 6]);
});

test("refuses a target that is too shallow, saying what to do", () => {
  expect(() => targetLayerIds(3, 2)).toThrow("layers must be an integer of at least 4, got 3; give the layer ids");
  expect(() => targetLayerIds(12, 0)).toThrow("features must be an integer of at least 1, got 0");
});
