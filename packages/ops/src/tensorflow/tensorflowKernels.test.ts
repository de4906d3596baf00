import { type Engine, engineProblem, startEngine } from "@dflash/engine";
import * as tf from "@tensorflow/tfjs-core";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createComposedKernels } from "../composed/createComposedKernels.ts";
import type { Kernels } from "../kernels.ts";
import { mismatch } from "../opMismatch.test-support.ts";
import { kernelCases, valuesOf } from "../kernelCases.test-support.ts";
import { createTensorflowKernels } from "./createTensorflowKernels.ts";

type TensorKernels = Kernels<tf.Tensor>;

const options = { threads: 1, resolveFrom: `${import.meta.dirname}/../../../../apps/trainer` };
const missing = await engineProblem("tensorflow", options);

describe.skipIf(missing !== null)(`tensorflow${missing === null ? "" : ` (skipped: ${missing})`}`, () => {
  let engine: Engine;
  let composed: TensorKernels;
  const fused = new Map<string, TensorKernels>();
  beforeAll(async () => {
    engine = await startEngine("tensorflow", options);
    composed = createComposedKernels(engine);
    // A GPU's runs of attention are larger; they must be right on a CPU too.
    for (const device of ["cpu", "gpu"] as const)
      fused.set(device, { ...composed, ...createTensorflowKernels(engine.tensorflowOps!, device) });
  });
  afterAll(() => engine.dispose());

  describe.each(["cpu", "gpu"])("as for a %s", (device) => {
    test.each(kernelCases)("fused as composed, and nothing left: $name", ({ use }) =>
      fc.assert(
        fc.asyncProperty(use, fc.nat(1000), async (run, seed) => {
          const { tensors } = engine.memory();
          const expected = await valuesOf(composed, run, seed);
          const got = await valuesOf(fused.get(device)!, run, seed);
          expect(got.map((values, i) => mismatch(values, expected[i]!, `result ${i}`))).toEqual(got.map(() => ""));
          expect(engine.memory().tensors).toBe(tensors);
        }),
        { numRuns: 25 },
      ),
    );
  });

  test("a kernel that fails half way leaves nothing", () => {
    const { tensors } = engine.memory();
    const [x, narrow] = [tf.ones([2, 3]), tf.ones([2, 2])];
    const kernels = fused.get("cpu")!;
    expect(() => kernels.swiglu(x, narrow)).toThrow("Incompatible shapes");
    tf.dispose([x, narrow]);
    expect(engine.memory().tensors).toBe(tensors);
  });
});
