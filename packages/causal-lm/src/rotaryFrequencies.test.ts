import { describe, expect, it } from "vitest";
import { rotaryFrequencies } from "./rotaryFrequencies.ts";

describe("rotaryFrequencies", () => {
  it("divides every frequency by the factor of linear scaling", () => {
    const plain = rotaryFrequencies({ type: "default", theta: 1e4 }, 32);
    expect(rotaryFrequencies({ type: "linear", theta: 1e4, factor: 4 }, 32)).toEqual(
      plain.map((frequency) => frequency / 4),
    );
  });
});
