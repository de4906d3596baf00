import { startEngine } from "@dflash/engine";
import { createOps, type Ops, type Tensor } from "@dflash/ops";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packHiddenStates } from "./packHiddenStates.ts";
import { tokenBatch } from "./packed.test-support.ts";

describe("packing", () => {
  let ops: Ops;
  beforeAll(async () => {
    ops = createOps(await startEngine("cpu"));
  });
  afterAll(() => ops.engine.dispose());

  const feature = (...values: number[]): Tensor => ops.upload(Float32Array.from(values), [2, values.length / 2]);

  it("joins the features of each token in the order of the layers, and frees them", async () => {
    const features = [feature(1, 2, 5, 6), feature(3, 4, 7, 8)];
    const packed = packHiddenStates(ops, tokenBatch(3, 2), { features, last: null }, [1, 4]);
    expect(packed).toMatchObject({ ...tokenBatch(3, 2), last: null });
    expect(packed.features.shape).toEqual([2, 4]);
    expect(await packed.features.read()).toEqual(Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    expect(ops.engine.memory().tensors).toBe(1);
    packed.dispose();
    expect(ops.engine.memory().tensors).toBe(0);
  });

  it("keeps the last layer's output, which may be a feature too", async () => {
    const last = feature(1, 2);
    const packed = packHiddenStates(ops, tokenBatch(0, 2), { features: [last, last], last }, [7, 7]);
    expect(await packed.features.read()).toEqual(Float32Array.of(1, 1, 2, 2));
    expect(await packed.last!.read()).toEqual(Float32Array.of(1, 2));
    packed.dispose();
    expect(ops.engine.memory().tensors).toBe(0);
  });

  it("refuses what the model was not asked for", () => {
    const features = [feature(1, 2)];
    expect(() => packHiddenStates(ops, tokenBatch(3, 2), { features, last: null }, [1, 4])).toThrow(
      "batch 3: the model captured layers of 2 tokens, expected 2 layers of 2",
    );
    expect(() => packHiddenStates(ops, tokenBatch(3, 5), { features, last: null }, [1])).toThrow(
      "batch 3: the model captured layers of 2 tokens, expected 1 layers of 5",
    );
    features[0]!.dispose();
  });
});
