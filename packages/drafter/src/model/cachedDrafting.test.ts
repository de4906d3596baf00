import { type Engine, startEngine } from "@dflash/engine";
import { type CachedSequence, createOps, type Ops, type Tensor } from "@dflash/ops";
import type { TargetHead } from "@dflash/target-forward";
import { createTimer } from "@dflash/timer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blockRanges } from "../blocks/blockRanges.ts";
import { noiseBlocks, rowPositions } from "../blocks/noiseBlocks.ts";
import type { DrafterConfig } from "../config/drafterConfig.ts";
import { tinyConfig, tinyFeatures, tinyHead } from "../tinyDrafter.test-support.ts";
import { createDrafter, type DFlashDrafter } from "./createDrafter.ts";
import { randomWeights } from "./randomWeights.ts";

const { hiddenSize, maskTokenId } = tinyConfig;
const width = tinyConfig.targetLayerIds.length * hiddenSize;
const ids = Int32Array.from({ length: 18 }, (_, token) => token);
const anchors = Int32Array.of(1, 4, 9, 13);

const slidingConfig: DrafterConfig = {
  ...tinyConfig,
  layerTypes: ["sliding_attention", "full_attention"],
  slidingWindow: 5,
};

/** The largest difference, relative to the largest value. */
function difference(values: Float32Array, expected: Float32Array): number {
  expect(values).toHaveLength(expected.length);
  return Math.max(...expected.map((value, i) => Math.abs(value - values[i]!))) / Math.max(...expected.map(Math.abs));
}

describe.each([
  ["full layers", tinyConfig],
  ["sliding and full layers", slidingConfig],
])("%s", (_, config) => {
  let engine: Engine;
  let ops: Ops;
  let drafter: DFlashDrafter;
  let head: TargetHead;
  let features: Float32Array;
  beforeAll(async () => {
    engine = await startEngine("wasm", { threads: 1 });
    ops = createOps(engine);
    drafter = await createDrafter({ ops, config, weights: randomWeights(1, 0.2), timer: createTimer() });
    head = await tinyHead(ops);
    features = await tinyFeatures(18, 5);
  });
  afterAll(() => engine.dispose());

  const upload = (start: number, end: number): Tensor =>
    ops.upload(features.slice(start * width, end * width), [end - start, width]);

  /** The hidden states of the block at each anchor, as training computes them: all blocks at once. */
  async function trained(blockSize: number): Promise<Float32Array[]> {
    const blocks = {
      anchors,
      keep: new Uint8Array(anchors.length).fill(1),
      rowStarts: new Int32Array(anchors.length),
      rowEnds: new Int32Array(anchors.length).fill(18),
    };
    const sized = { ...config, blockSize };
    const noise = noiseBlocks(blocks, ids, blockSize, maskTokenId);
    const hidden = ops.scope(() =>
      drafter.forward({
        noise: ops.embedding(head.embedTokens, noise.ids),
        noisePositions: noise.positions,
        features: upload(0, 18),
        contextPositions: rowPositions(Int32Array.of(0, 18)),
        ranges: blockRanges(blocks, sized, 18),
      }),
    );
    const values = await hidden.read();
    hidden.dispose();
    const size = blockSize * hiddenSize;
    return Array.from(anchors, (__, block) => Float32Array.from(values.slice(block * size, (block + 1) * size)));
  }

  /** Adds the features of the next positions up to `end`. */
  function append(cache: CachedSequence, end: number): void {
    const next = upload(cache.length, end);
    drafter.append([{ cache, count: end - cache.length }], next);
    next.dispose();
  }

  /** The hidden states of the blocks that start where the caches end, of all together. */
  async function drafted(caches: readonly CachedSequence[], blockSize: number): Promise<Float32Array> {
    const tokens = new Int32Array(caches.length * blockSize).fill(maskTokenId);
    for (const [row, cache] of caches.entries()) tokens[row * blockSize] = ids[cache.length]!;
    const noise = ops.embedding(head.embedTokens, tokens);
    try {
      const hidden = drafter.draft(caches, noise);
      const values = Float32Array.from(await hidden.read());
      hidden.dispose();
      return values;
    } finally {
      noise.dispose();
    }
  }

  test.each([4, 2, 1])("a drafted block of %i slots is the one that training sees", async (blockSize) => {
    const expected = await trained(blockSize);
    const cache = drafter.createCache();
    for (const [block, anchor] of anchors.entries()) {
      append(cache, anchor);
      expect(cache.length).toBe(anchor);
      expect(difference(await drafted([cache], blockSize), expected[block]!)).toBeLessThan(1e-5);
    }
    cache.dispose();
  });

  test("blocks of several sequences at once are those of each alone", async () => {
    const caches = Array.from(anchors, () => drafter.createCache());
    const ends = anchors.reduce((sum, anchor) => sum + anchor, 0);
    const joined = new Float32Array(ends * width);
    let at = 0;
    for (const anchor of anchors) {
      joined.set(features.subarray(0, anchor * width), at * width);
      at += anchor;
    }
    const all = ops.upload(joined, [ends, width]);
    drafter.append(
      caches.map((cache, i) => ({ cache, count: anchors[i]! })),
      all,
    );
    const expected = Float32Array.from((await trained(4)).flatMap((block) => Array.from(block)));
    expect(difference(await drafted(caches, 4), expected)).toBeLessThan(1e-5);
    for (const part of [all, ...caches]) part.dispose();
  });

  test("a cropped cache is as if the rest had never been there; drafting leaves it as it is", async () => {
    const { tensors } = engine.memory();
    const [long, short] = [drafter.createCache(), drafter.createCache()];
    append(long, 13);
    append(short, 9);
    const whole = await drafted([long], 4);
    long.crop(9);
    expect(long.length).toBe(9);
    expect(await drafted([long], 4)).toEqual(await drafted([short], 4));
    append(long, 13);
    expect(difference(await drafted([long], 4), whole)).toBeLessThan(1e-5);
    long.crop(0);
    expect(long.length).toBe(0);
    append(long, 9);
    expect(await drafted([long], 4)).toEqual(await drafted([short], 4));
    for (const cache of [long, short]) cache.dispose();
    expect(engine.memory().tensors).toBe(tensors);
  });

  test("refuses blocks, lengths and features that can't be", async () => {
    const { tensors } = engine.memory();
    const cache = drafter.createCache();
    await expect(drafted([cache], 2)).rejects.toThrow("drafter cache: that of row 0 is empty, expected the prompt's");
    append(cache, 3);
    await expect(drafted([cache], 5)).rejects.toThrow("drafter cache: each of 1 blocks has 5 slots, expected 1 to 4");
    expect(() => cache.crop(4)).toThrow("drafter cache: length is 4, expected an integer from 0 to 3");
    const [narrow, wide] = [ops.zeros([2, 32]), ops.zeros([2, width])];
    expect(() => drafter.append([{ cache, count: 2 }], narrow)).toThrow(
      "drafter: the features have shape [2, 32], expected [T, 48]",
    );
    expect(() => drafter.append([{ cache, count: 1 }], wide)).toThrow(
      "drafter cache: features of 2 positions, expected 1",
    );
    expect(cache.length).toBe(3);
    for (const part of [narrow, wide, cache]) part.dispose();
    await expect(drafted([cache], 2)).rejects.toThrow("drafter cache: that of row 0 is empty");
    expect(engine.memory().tensors).toBe(tensors);
  });
});
