import { expect, test } from "vitest";
import { createDrafterConfig } from "../config/drafterConfig.ts";
import { parameterShapes } from "./parameterShapes.ts";

/** Published drafters: five layers over five features, head dimension 128. */
const common = { layers: 36, headDim: 128, vocabSize: 151936, maxPositions: 40960, epsilon: 1e-6, ropeTheta: 1e6 };

test.each([
  ["Qwen3-8B", 5, { ...common, hiddenSize: 4096, intermediateSize: 12288, heads: 32, kvHeads: 8 }, 1_048_626_432],
  ["Qwen3-4B", 5, { ...common, hiddenSize: 2560, intermediateSize: 9728, heads: 32, kvHeads: 8 }, 537_427_200],
  ["Qwen3.5-35B-A3B", 8, { ...common, hiddenSize: 2048, intermediateSize: 6144, heads: 32, kvHeads: 4 }, 473_995_264],
])("the drafter of %s has as many parameters as the published one", (_, layers, target, count) => {
  const config = createDrafterConfig({
    target,
    layers,
    blockSize: 16,
    targetLayerIds: [1, 9, 17, 25, 33],
    maskTokenId: 151669,
  });
  const sizes = [...parameterShapes(config).values()].map((shape) =>
    shape.reduce((product, extent) => product * extent, 1),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(count);
  expect(sizes).toHaveLength(3 + 11 * layers);
});
