import { type Engine, engineProblem, startEngine } from "@dflash/engine";
import type * as tf from "@tensorflow/tfjs-core";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createComposedKernels } from "../composed/createComposedKernels.ts";
import { kernelCases, type KernelUse, valuesOf } from "../kernelCases.test-support.ts";
import type { Kernels } from "../kernels.ts";
import { mismatch } from "../opMismatch.test-support.ts";
import { createWebgpuKernels } from "./createWebgpuKernels.ts";

type TensorKernels = Kernels<tf.Tensor>;

const options = { threads: 1, resolveFrom: `${import.meta.dirname}/../../../../apps/trainer` };
const missing = process.env["DFLASH_LONG"] ? await engineProblem("webgpu", options) : "DFLASH_LONG=1";
const runs = 8;

/** Random uses of each kernel, with what the composed kernels give for them in plain JavaScript. */
async function expectations(): Promise<Map<string, { use: KernelUse; values: (Float32Array | Int32Array)[] }[]>> {
  const engine = await startEngine("cpu");
  const kernels = createComposedKernels(engine);
  const found = new Map<string, { use: KernelUse; values: (Float32Array | Int32Array)[] }[]>();
  for (const { name, use } of kernelCases) {
    const list = [];
    for (const [i, drawn] of fc.sample(use, { seed: 11, numRuns: runs }).entries())
      list.push({ use: drawn, values: await valuesOf(kernels, drawn, i) });
    found.set(name, list);
  }
  engine.dispose();
  return found;
}

describe.skipIf(missing !== null)(`webgpu${missing === null ? "" : ` (skipped: ${missing})`}`, () => {
  let engine: Engine;
  let kernels: TensorKernels;
  let expected: Awaited<ReturnType<typeof expectations>>;
  beforeAll(async () => {
    expected = await expectations();
    engine = await startEngine("webgpu", options);
    kernels = { ...createComposedKernels(engine), ...createWebgpuKernels(engine.gpuPrograms!) };
  });
  afterAll(() => engine.dispose());

  test.each(kernelCases)(
    "fused as composed in JavaScript, the same bits twice, and nothing left: $name",
    async ({ name }) => {
      for (const [i, { use, values }] of expected.get(name)!.entries()) {
        const { tensors } = engine.memory();
        const got = await valuesOf(kernels, use, i);
        expect(got.map((each, k) => mismatch(each, values[k]!, `result ${k}`))).toEqual(got.map(() => ""));
        expect(await valuesOf(kernels, use, i)).toEqual(got);
        expect(engine.memory().tensors).toBe(tensors);
      }
    },
  );
});
