import { type Engine, engineProblem, startEngine, type TensorflowOps } from "@dflash/engine";
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
    const raw = engine.tensorflowOps!;
    const add = (name: string, ops: TensorflowOps, device: "cpu" | "gpu") =>
      fused.set(name, { ...composed, ...createTensorflowKernels(ops, device) });
    add("cpu", raw, "cpu");
    add("cpu whose binding npm downloaded", { ...raw, has: () => false }, "cpu");
    // A GPU's runs of attention are larger; they must be right on a CPU too.
    add("gpu", raw, "gpu");
  });
  afterAll(() => engine.dispose());

  describe.each(["cpu", "cpu whose binding npm downloaded", "gpu"])("as for a %s", (device) => {
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

  test("rotary keeps the angles of the last positions, few of them, and never those of others", async () => {
    const raw = engine.tensorflowOps!;
    const alive = new Set<number>();
    const rotary = createTensorflowKernels(
      {
        ...raw,
        has: () => false,
        hold(values) {
          alive.add(values.id);
          raw.hold(values);
        },
        free(values) {
          alive.delete(values.id);
          raw.free(values);
        },
      },
      "cpu",
    ).rotary;
    const { tensors } = engine.memory();
    const [x, cos, sin] = [tf.randomNormal([2, 3, 4]), tf.randomNormal([40, 2]), tf.randomNormal([40, 2])];
    // The one array that changes its values must not be taken for what it was.
    const positions = new Int32Array(2);
    for (const first of [0, 0, 1, 0, ...Array.from({ length: 30 }, (_, i) => i), 0, 29]) {
      positions.set([first, first + 1]);
      for (const table of [
        [cos, sin],
        [sin, cos],
      ] as const) {
        const [got, expected] = [rotary(x, ...table, positions, -1), composed.rotary(x, ...table, positions, -1)];
        expect(mismatch(await got.data<"float32">(), await expected.data<"float32">(), `from ${first}`)).toBe("");
        tf.dispose([got, expected]);
      }
    }
    const before = engine.counters.kernels;
    tf.dispose([1, -1].map((sign) => rotary(x, sin, cos, positions, sign as 1 | -1)));
    expect(engine.counters.kernels - before).toBe(8);
    expect(alive.size).toBeLessThanOrEqual(8);
    tf.dispose([x, cos, sin]);
    expect(engine.memory().tensors).toBe(tensors);
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
