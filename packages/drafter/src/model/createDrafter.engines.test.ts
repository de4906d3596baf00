import { createTimer } from "@dflash/timer";
import { expect, test } from "vitest";
import { blockRanges } from "../blocks/blockRanges.ts";
import { noiseBlocks, rowPositions } from "../blocks/noiseBlocks.ts";
import { describeEngines } from "../describeEngines.test-support.ts";
import { tinyBatch, tinyConfig, tinyHead } from "../tinyDrafter.test-support.ts";
import { createDrafter, type DFlashDrafter } from "./createDrafter.ts";
import { randomWeights } from "./randomWeights.ts";

describeEngines((ops) => {
  const create = async (maxPositions: number): Promise<DFlashDrafter> => {
    const config = { ...tinyConfig, maxPositions };
    return createDrafter({ ops: ops(), config, weights: randomWeights(1, 0.2), timer: createTimer() });
  };

  /** The output for one block at the end of a row. */
  const output = async (drafter: DFlashDrafter, length: number): Promise<Float32Array> => {
    const [head, batch] = [await tinyHead(ops()), await tinyBatch(ops(), { lengths: [length] })];
    const { blockSize, maskTokenId } = tinyConfig;
    const blocks = {
      anchors: Int32Array.of(length - 1),
      keep: Uint8Array.of(1),
      rowStarts: Int32Array.of(0),
      rowEnds: Int32Array.of(length),
    };
    const noise = noiseBlocks(blocks, batch.ids, blockSize, maskTokenId);
    try {
      const hidden = ops().scope(() =>
        drafter.forward({
          noise: ops().embedding(head.embedTokens, noise.ids),
          noisePositions: noise.positions,
          features: batch.features,
          contextPositions: rowPositions(batch.rowStarts),
          ranges: blockRanges(blocks, drafter.config, length),
        }),
      );
      const values = Float32Array.from(await hidden.read());
      hidden.dispose();
      return values;
    } finally {
      for (const part of [head, batch]) part.dispose();
    }
  };

  test("a million positions take no memory before rows are that long", async () => {
    const held: number[] = [];
    for (const maxPositions of [64, 1_000_000]) {
      const before = ops().engine.memory().bytes;
      const drafter = await create(maxPositions);
      await output(drafter, 14);
      held.push(ops().engine.memory().bytes - before);
      drafter.dispose();
    }
    expect(held[1]).toBe(held[0]);
  });

  test("rows of any length in any order give the same bits", async () => {
    const lengths = [5, 300, 20];
    const [one, other] = [await create(1_000_000), await create(1_000_000)];
    const [up, down] = [new Map<number, Float32Array>(), new Map<number, Float32Array>()];
    for (const length of lengths) up.set(length, await output(one, length));
    for (const length of lengths.toReversed()) down.set(length, await output(other, length));
    for (const length of lengths) expect(down.get(length)).toEqual(up.get(length));
    for (const drafter of [one, other]) drafter.dispose();
  });

  test("refuses positions that its config has no room for", async () => {
    const drafter = await create(16);
    // The last block of a full row ends three positions behind it.
    await output(drafter, 16);
    await expect(output(drafter, 18)).rejects.toThrow("rotary: positions[");
    drafter.dispose();
  });
});
