import { expect, test } from "vitest";
import { describeOps } from "./describeOps.test-support.ts";
import { randomValues } from "./opMismatch.test-support.ts";
import type { Tensor } from "./tensor.ts";

/** A GPU in software takes minutes. */
const timeout = 1_200_000;

describeOps((ops) => {
  test(
    "training steps, 1,000 in the form that is shipped, leave as many tensors and bytes as one",
    async () => {
      const shipped = ops().engine.name === "cpu" || Object.values(ops().forms).includes("fused");
      const steps = shipped ? 1000 : 50;
      const { upload, zeros, embedding, rmsNorm, linear, attention, swiglu, add, reshape } = ops();
      const [vocabulary, size, tokens] = [11, 4, 6];
      const draw = (rows: number, seed: number): Tensor => upload(randomValues(rows * size, seed), [rows, size]);
      const parameters = [
        draw(vocabulary, 1),
        draw(size, 2),
        draw(size, 3),
        draw(size, 4),
        upload(randomValues(size, 5), [size]),
      ];
      const [table, query, gate, up, norm] = parameters;
      const states = parameters.map(({ shape }) => ({ mean: zeros(shape), variance: zeros(shape) }));
      const seen = new Set<string>();
      for (let step = 1; step <= steps; step++) {
        // Rows of other lengths from step to step, with one that sees nothing.
        const ids = Int32Array.from({ length: tokens + (step % 3) }, (_, i) => (i * step) % vocabulary);
        const bounds = Int32Array.from([...ids.keys()].flatMap((i) => [0, i, i, i]));
        const ranges = { queryLength: ids.length, keyLength: ids.length, bounds };
        const { outputs, gradients } = ops().valueAndGrad(parameters, () => {
          const x = embedding(table!, ids);
          const heads = (y: Tensor): Tensor => reshape(y, [ids.length, 2, size / 2]);
          const keys = heads(rmsNorm(x, norm!, 1e-6));
          const attended = attention(heads(linear(x, query!)), keys, keys, ranges);
          const hidden = add(x, swiglu(linear(reshape(attended, x.shape), gate!), linear(x, up!)));
          return ops().linearCrossEntropy(hidden, table!, ids, new Float32Array(ids.length).fill(0.1), {
            chunkRows: 4,
          });
        });
        await ops().globalNorm(gradients);
        parameters.forEach((parameter, i) => {
          const options = { learningRate: 1e-3, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.1, step };
          ops().adamW(parameter, gradients[i]!, states[i]!, options);
        });
        for (const tensor of [...gradients, ...Object.values(outputs)]) tensor.dispose();
        const { tensors, bytes } = ops().engine.memory();
        seen.add(`${tensors} tensors, ${bytes} bytes`);
      }
      expect([...seen]).toHaveLength(1);
      for (const tensor of [...parameters, ...states.flatMap((state) => Object.values<Tensor>(state))])
        tensor.dispose();
    },
    timeout,
  );
});
