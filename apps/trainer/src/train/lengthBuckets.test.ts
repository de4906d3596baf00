import { expect, test } from "vitest";
import { lengthBuckets } from "./lengthBuckets.ts";

test("buckets are powers of two and halves, up to the first that holds the longest row", () => {
  expect(lengthBuckets(512)).toEqual([32, 48, 64, 96, 128, 192, 256, 384, 512]);
  expect(lengthBuckets(300)).toEqual([32, 48, 64, 96, 128, 192, 256, 384]);
  expect(lengthBuckets(20)).toEqual([32]);
});
