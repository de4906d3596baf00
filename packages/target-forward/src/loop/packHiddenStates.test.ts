import { startEngine } from "@dflash/engine";
import { createOps, type Ops, type Tensor } from "@dflash/ops";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tokenBatch } from "../packed.test-support.ts";
import { featureTensors, packHiddenStates } from "./packHiddenStates.ts";

describe("packing", () => {
  let ops: Ops;
  beforeAll(async () => {
    ops = createOps(await startEngine("cpu"));
  });
  afterAll(() => ops.engine.dispose());

  const live = (): number => ops.engine.memory().tensors;
  const feature = (...values: number[]): Tensor => ops.upload(Float32Array.from(values), [2, values.length / 2]);

  it("joins the features of each token in the order of the layers, and frees them", async () => {
    const features = [feature(1, 2, 5, 6), feature(3, 4, 7, 8)];
    const options = { ops, layerIds: [1, 4], layout: "joined" } as const;
    const packed = packHiddenStates(options, tokenBatch(3, 2), { features, last: null });
    expect(packed).toMatchObject({ ...tokenBatch(3, 2), last: null });
    const [joined] = featureTensors(packed);
    expect(joined!.shape).toEqual([2, 4]);
    expect(await joined!.read()).toEqual(Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    expect(live()).toBe(1);
    packed.dispose();
    expect(live()).toBe(0);
  });

  it("hands split features over as they are", () => {
    const features = [feature(1, 2), feature(3, 4)];
    const options = { ops, layerIds: [1, 4], layout: "split" } as const;
    const split = packHiddenStates(options, tokenBatch(3, 2), { features, last: features[1]! });
    expect(split.features).toBe(features);
    expect(live()).toBe(2);
    split.dispose();
    expect(live()).toBe(0);
  });

  it("keeps the last layer's output, which may be a feature too", async () => {
    const last = feature(1, 2);
    const options = { ops, layerIds: [7, 7], layout: "joined" } as const;
    const packed = packHiddenStates(options, tokenBatch(0, 2), { features: [last, last], last });
    expect(await featureTensors(packed)[0]!.read()).toEqual(Float32Array.of(1, 1, 2, 2));
    expect(await packed.last!.read()).toEqual(Float32Array.of(1, 2));
    packed.dispose();
    expect(live()).toBe(0);
  });

  it("refuses what the model was not asked for, and frees it", () => {
    for (const [tokens, layerIds] of [
      [2, [1, 4]],
      [5, [1]],
    ] as const) {
      const hidden = { features: [feature(1, 2)], last: null };
      expect(() => packHiddenStates({ ops, layerIds, layout: "joined" }, tokenBatch(3, tokens), hidden)).toThrow(
        `batch 3: the model captured layers of 2 tokens, expected ${layerIds.length} layers of ${tokens}`,
      );
    }
    expect(live()).toBe(0);
  });
});
