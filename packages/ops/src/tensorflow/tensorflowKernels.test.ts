import { causalRowRanges } from "@dflash/block-mask";
import { type Engine, engineProblem, startEngine, type TensorflowOps } from "@dflash/engine";
import * as tf from "@tensorflow/tfjs-core";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createComposedKernels } from "../composed/createComposedKernels.ts";
import type { Kernels } from "../kernels.ts";
import { mismatch } from "../opMismatch.test-support.ts";
import { kernelCases, type KernelUse, valuesOf } from "../kernelCases.test-support.ts";
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
      fused.set(name, { ...composed, ...createTensorflowKernels(ops, device, 1) });
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

  test("many threads share large values", async () => {
    const { tensorflowOps: raw, counters } = engine;
    const many = { ...composed, ...createTensorflowKernels(raw!, "cpu", 16) };
    let dispatched = 0;
    const swiglu =
      (rows: number): KernelUse =>
      (kernels, make) => {
        const [gate, up, dy] = [make(rows, 1024), make(rows, 1024), make(rows, 1024)];
        const before = counters.kernels;
        const { y, saved } = kernels.swiglu(gate, up);
        dispatched = counters.kernels - before;
        const { dGate, dUp } = kernels.swigluBackward(gate, up, saved, dy);
        for (const tensor of saved) tensor.dispose();
        return [y, dGate, dUp];
      };
    const attention =
      (rows: number): KernelUse =>
      (kernels, make) => {
        const [q, k, v, dy] = [make(rows, 32, 128), make(rows, 8, 128), make(rows, 8, 128), make(rows, 32, 128)];
        const ranges = causalRowRanges({ rowStarts: Int32Array.of(0, rows) });
        const before = counters.kernels;
        const { y, saved } = kernels.attention(q, k, v, ranges, 0.1);
        dispatched = counters.kernels - before;
        const { dq, dk, dv } = kernels.attentionBackward(q, k, v, y, saved, dy, ranges, 0.1);
        for (const tensor of saved) tensor.dispose();
        return [y, dq, dk, dv];
      };
    for (const [small, large] of [
      [swiglu(511), swiglu(512)],
      [attention(63), attention(64)],
    ] as const) {
      const dispatches: number[] = [];
      for (const use of [small, large]) {
        const expected = await valuesOf(composed, use, 1);
        const got = await valuesOf(many, use, 1);
        dispatches.push(dispatched);
        expect(got.map((values, i) => mismatch(values, expected[i]!, `result ${i}`))).toEqual(got.map(() => ""));
      }
      // TensorFlow's own ops are several; the npm binding has no others.
      expect(dispatches[1]! > dispatches[0]!).toBe(raw!.has("DflashSwiglu"));
    }
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
      1,
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
