import { describe, expect, it } from "vitest";
import { createMaskCache } from "./maskCache.ts";

describe("createMaskCache", () => {
  it("builds once, and again once the entry was the longest unused beyond the capacity", () => {
    const built: string[] = [];
    const cache = createMaskCache<string>({ capacity: 2 });
    const ask = (key: string): string =>
      cache.get(key, () => {
        built.push(key);
        return `mask ${key}`;
      });
    expect(["a", "b", "a", "c", "a", "b"].map(ask)).toEqual([
      "mask a",
      "mask b",
      "mask a",
      "mask c",
      "mask a",
      "mask b",
    ]);
    expect(built).toEqual(["a", "b", "c", "b"]);
  });

  it("refuses a capacity of 0", () => {
    expect(() => createMaskCache({ capacity: 0 })).toThrow(
      new RangeError("capacity must be an integer from 1 to 2147483647, got 0"),
    );
  });
});
