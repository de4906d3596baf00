import { createHash } from "node:crypto";
import { startEngine, type Engine, type WasmHeap } from "@dflash/engine";
import * as tf from "@tensorflow/tfjs-core";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createComposedKernels } from "../composed/createComposedKernels.ts";
import type { Kernels } from "../kernels.ts";
import { mismatch } from "../opMismatch.test-support.ts";
import { createWasmKernels } from "./createWasmKernels.ts";
import { kernelCases, type KernelUse, valuesOf } from "../kernelCases.test-support.ts";

type TensorKernels = Kernels<tf.Tensor>;

describe.each([
  { threads: 1, form: "first accepted" },
  { threads: 2, form: "first accepted" },
  { threads: 1, form: "plain" },
])("$threads threads, $form module", ({ threads, form }) => {
  let engine: Engine;
  let composed: TensorKernels;
  let fused: TensorKernels;
  beforeAll(async () => {
    engine = await startEngine("wasm", { threads });
    const heap = engine.wasmHeap!;
    const load: WasmHeap["load"] = (modules) => heap.load(form === "plain" ? modules.slice(-1) : modules);
    composed = createComposedKernels(engine);
    fused = { ...composed, ...createWasmKernels({ ...heap, load }) };
  });
  afterAll(() => engine.dispose());

  /** What differs between the fused and the composed kernels, and what they leave behind. */
  const differences = async (use: KernelUse, seed: number): Promise<string[]> => {
    const tensors = tf.memory().numTensors;
    const expected = await valuesOf(composed, use, seed);
    const got = await valuesOf(fused, use, seed);
    const left = tf.memory().numTensors - tensors;
    return [
      ...expected.map((values, i) => mismatch(got[i]!, values, `result ${i}`)),
      left === 0 ? "" : `${left} tensors are left`,
    ].filter((difference) => difference !== "");
  };

  test.each(kernelCases)("fused as composed, and nothing left: $name", ({ use }) =>
    fc.assert(
      fc.asyncProperty(use, fc.nat(1000), async (run, seed) => {
        expect(await differences(run, seed)).toEqual([]);
      }),
      { numRuns: 25 },
    ),
  );

  test.each([
    [1, 4100, 4101],
    [2, 17_000, 1000],
    [4101, 4100, 1],
  ])("products too large to be packed at once: %d × %d × %d", async (rows, inputs, outputs) => {
    const use: KernelUse = (kernels, make) => [kernels.linear(make(rows, inputs), make(outputs, inputs), null)];
    expect(await differences(use, 1)).toEqual([]);
  });
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
