import { createHash } from "node:crypto";
import { startEngine, type Engine } from "@dflash/engine";
import * as tf from "@tensorflow/tfjs-core";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createComposedKernels } from "../composed/createComposedKernels.ts";
import type { Kernels } from "../kernels.ts";
import { mismatch } from "../opMismatch.test-support.ts";
import { createWasmKernels } from "./createWasmKernels.ts";
import { kernelCases, tensorMaker, type KernelCase } from "./kernelCases.test-support.ts";

type TensorKernels = Kernels<tf.Tensor>;
type Use = KernelCase["use"] extends fc.Arbitrary<infer T> ? T : never;

/** Values of all results; leaves no tensor behind. */
async function valuesOf(kernels: TensorKernels, use: Use, seed: number): Promise<(Float32Array | Int32Array)[]> {
  const { make, made } = tensorMaker(kernels, seed);
  const results = use(kernels, make).filter((tensor) => tensor !== null);
  const values = await Promise.all(results.map((tensor) => kernels.read(tensor)));
  for (const tensor of [...results, ...made]) tensor.dispose();
  return values;
}

describe.each([1, 2])("%d threads", (threads) => {
  let engine: Engine;
  let composed: TensorKernels;
  let fused: TensorKernels;
  beforeAll(async () => {
    engine = await startEngine("wasm", { threads });
    composed = createComposedKernels(engine);
    fused = { ...composed, ...createWasmKernels(engine.wasmHeap!) };
  });
  afterAll(() => engine.dispose());

  test.each(kernelCases)("fused as composed, and nothing left: $name", ({ use }) =>
    fc.assert(
      fc.asyncProperty(use, fc.nat(1000), async (run, seed) => {
        const tensors = tf.memory().numTensors;
        const expected = await valuesOf(composed, run, seed);
        const got = await valuesOf(fused, run, seed);
        expect(got.map((values, i) => mismatch(values, expected[i]!, `result ${i}`))).toEqual(got.map(() => ""));
        expect(tf.memory().numTensors).toBe(tensors);
      }),
      { numRuns: 25 },
    ),
  );
});

test("the same bits with any number of threads, and every time", async () => {
  const uses = kernelCases.flatMap(({ use }) => fc.sample(use, { seed: 7, numRuns: 5 }));
  const hashes = new Set<string>();
  for (const threads of [1, 2, 2, 3]) {
    const engine = await startEngine("wasm", { threads });
    const kernels = { ...createComposedKernels(engine), ...createWasmKernels(engine.wasmHeap!) };
    const hash = createHash("sha256");
    for (const [i, use] of uses.entries()) for (const values of await valuesOf(kernels, use, i)) hash.update(values);
    hashes.add(hash.digest("hex"));
    engine.dispose();
  }
  expect(hashes.size).toBe(1);
});
