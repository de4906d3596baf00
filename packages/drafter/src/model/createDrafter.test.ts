import { type Engine, startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import type { TargetHead } from "@dflash/target-forward";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blockRanges } from "../blocks/blockRanges.ts";
import { noiseBlocks, rowPositions } from "../blocks/noiseBlocks.ts";
import { tinyConfig, tinyDrafter, tinyFeatures, tinyHead } from "../tinyDrafter.test-support.ts";
import type { DFlashDrafter } from "./createDrafter.ts";

const { blockSize, maskTokenId, hiddenSize } = tinyConfig;
const rowStarts = Int32Array.of(0, 10, 18);
/** Two blocks a row; the last one is not kept. */
const blocks = {
  anchors: Int32Array.of(4, 6, 13, 10),
  keep: Uint8Array.of(1, 1, 1, 0),
  rowStarts: Int32Array.of(0, 0, 10, 10),
  rowEnds: Int32Array.of(10, 10, 18, 18),
};
const ids = Int32Array.from({ length: 18 }, (_, token) => token);

describe("forward", () => {
  let engine: Engine;
  let ops: Ops;
  let drafter: DFlashDrafter;
  let head: TargetHead;
  let features: Float32Array;
  let unchanged: Float32Array[];
  beforeAll(async () => {
    engine = await startEngine("wasm", { threads: 1 });
    ops = createOps(engine);
    drafter = await tinyDrafter(ops);
    head = await tinyHead(ops);
    features = await tinyFeatures(18, 5);
    unchanged = await outputs({});
  });
  afterAll(() => engine.dispose());

  /** The output of each block, after a change of one token's features or of one slot's token. */
  async function outputs(
    { token, slot }: { token?: number; slot?: number },
    of: DFlashDrafter = drafter,
  ): Promise<Float32Array[]> {
    const noise = noiseBlocks(blocks, ids, blockSize, maskTokenId);
    const changed = Float32Array.from(features);
    const width = features.length / ids.length;
    if (token !== undefined) for (let i = token * width; i < (token + 1) * width; i++) changed[i]! += 1;
    if (slot !== undefined) noise.ids[slot] = 20;
    const hidden = ops.scope(() =>
      of.forward({
        noise: ops.embedding(head.embedTokens, noise.ids),
        noisePositions: noise.positions,
        features: ops.upload(changed, [ids.length, width]),
        contextPositions: rowPositions(rowStarts),
        ranges: blockRanges(blocks, tinyConfig, ids.length),
      }),
    );
    const values = Float32Array.from(await hidden.read());
    hidden.dispose();
    return blocks.anchors.reduce<Float32Array[]>((parts, _, block) => {
      const size = blockSize * hiddenSize;
      return [...parts, values.slice(block * size, (block + 1) * size)];
    }, []);
  }

  /** Indices of the blocks that a change reaches. */
  async function reached(change: { token?: number; slot?: number }): Promise<number[]> {
    const changed = await outputs(change);
    return changed.flatMap((values, block) => (values.join() === unchanged[block]!.join() ? [] : [block]));
  }

  test("a block sees the features before its anchor and neither the anchor's nor later ones", async () => {
    expect(await reached({ token: 3 })).toEqual([0, 1]);
    expect(await reached({ token: 4 })).toEqual([1]);
    expect(await reached({ token: 5 })).toEqual([1]);
    expect(await reached({ token: 6 })).toEqual([]);
  });

  test("a block does not see other rows", async () => {
    expect(await reached({ token: 0 })).toEqual([0, 1]);
    expect(await reached({ token: 10 })).toEqual([2]);
    expect(await reached({ token: 13 })).toEqual([]);
  });

  test("a block sees its own slots only", async () => {
    expect(await reached({ slot: 0 })).toEqual([0]);
    expect(await reached({ slot: 4 + 3 })).toEqual([1]);
  });

  test("the first slots depend on the last one: blocks are bidirectional", async () => {
    const [block] = await outputs({ slot: 3 });
    expect(block!.slice(0, hiddenSize)).not.toEqual(unchanged[0]!.slice(0, hiddenSize));
  });

  test("a block that is not kept gives numbers, not NaN", () => {
    expect(unchanged[3]!.every(Number.isFinite)).toBe(true);
  });

  test("refuses features of another number of layers", async () => {
    const wrong = ops.upload(new Float32Array(18 * 32), [18, 32]);
    const noise = noiseBlocks(blocks, ids, blockSize, maskTokenId);
    const run = (): unknown =>
      ops.scope(() =>
        drafter.forward({
          noise: ops.embedding(head.embedTokens, noise.ids),
          noisePositions: noise.positions,
          features: wrong,
          contextPositions: rowPositions(rowStarts),
          ranges: blockRanges(blocks, tinyConfig, ids.length),
        }),
      );
    expect(run).toThrow("drafter: the features have shape [18, 32], expected [T, 48]: 3 target layers of 16");
  });

  test("refuses weights of the wrong size by name, and keeps no tensor", async () => {
    const before = engine.memory().tensors;
    const wrong = tinyDrafter(ops, {
      weights: (name, [rows = 0, columns = 1]) => new Float32Array(name === "hidden_norm.weight" ? 3 : rows * columns),
    });
    await expect(wrong).rejects.toThrow("drafter: hidden_norm.weight has 3 values, expected 16 for shape [16]");
    expect(engine.memory().tensors).toBe(before);
  });

  test("disposing it leaves no tensor", async () => {
    const before = engine.memory().tensors;
    const other = await tinyDrafter(ops);
    await outputs({}, other);
    other.dispose();
    expect(engine.memory().tensors).toBe(before);
  });
});
