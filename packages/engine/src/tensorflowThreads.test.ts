import * as tf from "@tensorflow/tfjs-core";
import { expect, test } from "vitest";
import { engineProblem } from "./engineProblem.ts";
import { startEngine } from "./startEngine.ts";

const options = { threads: 2, resolveFrom: `${import.meta.dirname}/../../../apps/trainer` };
const missing = await engineProblem("tensorflow", options);

const waves = (rows: number, columns: number): tf.Tensor2D =>
  tf.tensor2d(
    Float32Array.from({ length: rows * columns }, (_, i) => Math.sin(1.7 * i)),
    [rows, columns],
  );

// Another number of threads gives other bits: TensorFlow divides the sums of a product by it.
test.skipIf(missing !== null)(
  `two threads of native TensorFlow give the same bits every time${missing === null ? "" : ` (skipped: ${missing})`}`,
  async () => {
    const engine = await startEngine("tensorflow", options);
    expect(engine).toMatchObject({ threads: 2, deterministic: true });
    const [a, b] = [waves(2048, 96), waves(2048, 64)];
    const product = (): Promise<Float32Array> => tf.tidy(() => tf.matMul(a, b, true)).data<"float32">();
    const first = await product();
    for (let i = 0; i < 10; i++) expect(await product()).toEqual(first);
    engine.dispose();
  },
);
