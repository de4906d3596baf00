import { describe, expect, it } from "vitest";
import { rotaryFrequencies } from "./rotaryFrequencies.ts";

/** Cosines at position 30,000 of the first 16 pairs of Qwen3's rope (θ 1e6, head dimension 128), by PyTorch 2.13 on a CPU. */
const pytorch = [
  -0.5964295, -0.7569857, -0.9076381, -0.9063978, -0.9558939, -0.9877259, -0.9999874, -0.6475531, 0.9154977, 0.2293993,
  -0.6745027, -0.3995187, 0.9547337, -0.9819435, -0.9980783, -0.667249,
];

describe("rotaryFrequencies", () => {
  it("gives PyTorch's angles at position 30,000", () => {
    const frequencies = rotaryFrequencies({ type: "default", theta: 1e6 }, 128);
    expect(frequencies).toHaveLength(64);
    pytorch.forEach((cosine, i) => expect(Math.cos(Math.fround(30_000 * frequencies[i]!))).toBeCloseTo(cosine, 6));
  });

  it("divides every frequency by the factor of linear scaling", () => {
    const plain = rotaryFrequencies({ type: "default", theta: 1e4 }, 32);
    expect(rotaryFrequencies({ type: "linear", theta: 1e4, factor: 4 }, 32)).toEqual(
      plain.map((frequency) => frequency / 4),
    );
  });
});
