import * as fc from "fast-check";
import { expect, test } from "vitest";
import { describeOps } from "./describeOps.test-support.ts";
import { mismatch, opMismatch, randomValues } from "./opMismatch.test-support.ts";
import { naive } from "./naive.test-support.ts";

const rowCases = fc.record({
  rows: fc.integer({ min: 1, max: 7 }),
  width: fc.integer({ min: 1, max: 5 }),
  vocabulary: fc.integer({ min: 1, max: 13 }),
  chunkRows: fc.integer({ min: 1, max: 8 }),
  chunkVocabulary: fc.integer({ min: 1, max: 14 }),
  seed: fc.nat(1000),
});

describeOps((ops) => {
  test("linearCrossEntropy and its gradients, however the rows and the vocabulary divide into chunks", () =>
    fc.assert(
      fc.asyncProperty(rowCases, async ({ rows, width, vocabulary, chunkRows, chunkVocabulary, seed }) => {
        const labels = new Int32Array(rows).map((_, row) => (row * 7 + seed) % vocabulary);
        const weights = randomValues(rows, seed + 5).map((weight, row) => (row % 3 === 1 ? 0 : weight));
        expect(
          await opMismatch(ops(), {
            shapes: { x: [rows, width], weight: [vocabulary, width] },
            seed,
            run: ({ linearCrossEntropy }, { x, weight }) =>
              linearCrossEntropy(x, weight, labels, weights, { chunkRows, chunkVocabulary }).loss,
            naive: ({ x, weight }) =>
              Float64Array.of(
                naive
                  .crossEntropy(naive.linear(x, weight, width), labels)
                  .reduce((sum, loss, row) => sum + loss * weights[row]!, 0),
              ),
          }),
        ).toBe("");
      }),
      { numRuns: 25 },
    ));

  test("linearDistillation is 0 where the teacher agrees, and its gradient is that of KL", () =>
    fc.assert(
      fc.asyncProperty(rowCases, async ({ rows, width, vocabulary, chunkRows, seed }) => {
        const teacher = Float64Array.from(randomValues(rows * width, seed + 7));
        const head = Float64Array.from(randomValues(vocabulary * width, seed + 8));
        const weights = randomValues(rows, seed + 5).map((weight, row) => (row % 3 === 1 ? 0 : weight));
        const { upload, zeros } = ops();
        const weight = upload(Float32Array.from(head), [vocabulary, width]);
        const taught = upload(Float32Array.from(teacher), [rows, width]);
        expect(
          await opMismatch(ops(), {
            shapes: { x: [rows, width] },
            seed,
            run: ({ linearDistillation }, { x }) => linearDistillation(x, taught, weight, weights, { chunkRows }).loss,
            naive: ({ x }) => {
              const [q, p] = [naive.linear(x, head, width), naive.linear(teacher, head, width)];
              // KL = Σ p·(log p − log q): cross-entropies of every label, weighted by the teacher.
              let loss = 0;
              for (let label = 0; label < vocabulary; label++) {
                const labels = new Int32Array(rows).fill(label);
                const [own, other] = [naive.crossEntropy(q, labels), naive.crossEntropy(p, labels)];
                own.forEach((ce, row) => (loss += weights[row]! * Math.exp(-other[row]!) * (ce - other[row]!)));
              }
              return Float64Array.of(loss);
            },
          }),
        ).toBe("");
        const same = ops().scope(() => ({
          rowLosses: ops().linearDistillation(taught, taught, weight, weights).rowLosses,
        }));
        expect(mismatch(await same.rowLosses.read(), new Float64Array(rows), "rowLosses")).toBe("");
        expect(() =>
          ops().valueAndGrad([weight], () => ops().linearDistillation(taught, taught, weight, weights)),
        ).toThrow("linearDistillation: weight is trained, expected frozen: it gets no gradient");
        expect(() =>
          ops().scope(() => ops().linearDistillation(taught, zeros([rows + 1, width]), weight, weights)),
        ).toThrow(`linearDistillation: teacher is [${rows + 1}, ${width}], expected [${rows}, ${width}]`);
        for (const tensor of [weight, taught, same.rowLosses]) tensor.dispose();
      }),
      { numRuns: 15 },
    ));

  test("a vocabulary of one word is predicted with certainty: no loss and no gradient", async () => {
    const { upload, valueAndGrad, linearCrossEntropy, linearDistillation } = ops();
    const [rows, width] = [5, 3];
    const [x, teacher] = [1, 2].map((seed) => upload(randomValues(rows * width, seed), [rows, width]));
    const weight = upload(randomValues(width, 3), [1, width]);
    const [labels, ones] = [new Int32Array(rows), new Float32Array(rows).fill(1)];
    const losses = {
      whole: () => linearCrossEntropy(x!, weight, labels, ones, { chunkRows: 2 }),
      tiled: () => linearCrossEntropy(x!, weight, labels, ones, { chunkRows: 2, chunkVocabulary: 1 }),
      distilled: () => linearDistillation(x!, teacher!, weight, ones, { chunkRows: 2 }),
    };
    for (const [name, loss] of Object.entries(losses)) {
      const parameters = name === "distilled" ? [x!] : [x!, weight];
      const { outputs, gradients } = valueAndGrad(parameters, loss);
      expect(await outputs.loss.read()).toEqual(Float32Array.of(0));
      expect(await outputs.predictions.read()).toEqual(labels);
      for (const tensor of [outputs.rowLosses, ...gradients]) {
        const zeros = new Float32Array(tensor.shape.reduce((size, extent) => size * extent, 1));
        expect(mismatch(await tensor.read(), zeros, name)).toBe("");
      }
      for (const tensor of [...Object.values(outputs), ...gradients]) tensor.dispose();
    }
    for (const tensor of [x!, teacher!, weight]) tensor.dispose();
  });

  test("losses, predictions and skipped rows are the same in tiles of the vocabulary", async () => {
    const { upload, linearCrossEntropy } = ops();
    const [rows, width, vocabulary] = [9, 4, 23];
    const [x, weight] = [
      upload(randomValues(rows * width, 1), [rows, width]),
      upload(randomValues(vocabulary * width, 2), [vocabulary, width]),
    ];
    const labels = new Int32Array(rows).map((_, row) => (row === 4 ? -100 : (row * 5) % vocabulary));
    const weights = new Float32Array(rows).map((_, row) => (row === 4 ? 0 : 1 + row));
    const whole = linearCrossEntropy(x, weight, labels, weights);
    for (const chunkVocabulary of [1, 7, 22]) {
      const tiled = linearCrossEntropy(x, weight, labels, weights, { chunkRows: 4, chunkVocabulary });
      for (const name of ["loss", "rowLosses", "predictions"] as const)
        expect(mismatch(await tiled[name].read(), await whole[name].read(), name)).toBe("");
      expect(tiled.predictions.dtype).toBe("int32");
      for (const tensor of Object.values(tiled)) tensor.dispose();
    }
    for (const tensor of [x, weight, ...Object.values(whole)]) tensor.dispose();
  });

  test("rows of weight 0 may carry any label and count nothing", async () => {
    const { upload, linearCrossEntropy, valueAndGrad } = ops();
    const [rows, width, vocabulary] = [5, 3, 4];
    const xValues = randomValues(rows * width, 1);
    const weightValues = randomValues(vocabulary * width, 2);
    const [x, weight] = [upload(xValues, [rows, width]), upload(weightValues, [vocabulary, width])];
    const labels = Int32Array.of(1, -100, 3, 999, 0);
    const weights = Float32Array.of(1, 0, 0.5, 0, 2);
    const { outputs, gradients } = valueAndGrad([x], () =>
      linearCrossEntropy(x, weight, labels, weights, { chunkRows: 2 }),
    );
    const logits = naive.linear(Float64Array.from(xValues), Float64Array.from(weightValues), width);
    const counted = labels.map((label, row) => (weights[row] === 0 ? 0 : label));
    const losses = naive.crossEntropy(logits, counted).map((loss, row) => (weights[row] === 0 ? 0 : loss));
    expect(mismatch(await outputs.rowLosses.read(), losses, "rowLosses")).toBe("");
    expect(
      mismatch(await outputs.loss.read(), [losses.reduce((sum, loss, row) => sum + loss * weights[row]!, 0)], "loss"),
    ).toBe("");
    const best = Int32Array.from({ length: rows }, (_, row) => {
      const z = logits.subarray(row * vocabulary, (row + 1) * vocabulary);
      return z.indexOf(Math.max(...z));
    });
    expect(outputs.predictions.dtype).toBe("int32");
    expect(await outputs.predictions.read()).toEqual(best);
    const dx = await gradients[0]!.read();
    for (const row of [1, 3])
      expect(Array.from(dx.subarray(row * width, (row + 1) * width), Math.abs)).toEqual([0, 0, 0]);
    for (const tensor of [x, weight, ...Object.values(outputs), ...gradients]) tensor.dispose();
  });

  test("logits in the hundreds don't overflow", async () => {
    const { upload, linearCrossEntropy, scope } = ops();
    const { loss } = scope(() => ({
      loss: linearCrossEntropy(
        upload(Float32Array.of(500), [1, 1]),
        upload(Float32Array.of(1, -1, 0.5), [3, 1]),
        Int32Array.of(1),
        Float32Array.of(1),
      ).loss,
    }));
    expect(await loss.read()).toEqual(Float32Array.of(1000));
    loss.dispose();
  });

  test("argmax of the last axis takes the first of equals", async () => {
    const { upload, argmax } = ops();
    const x = upload(Float32Array.of(1, 3, 3, -5, -7, -5), [2, 3]);
    const best = argmax(x);
    expect(best.shape).toEqual([2]);
    expect(await best.read()).toEqual(Int32Array.of(1, 0));
    x.dispose();
    best.dispose();
  });

  test("labels and weights that don't fit are refused", () => {
    ops().scope(() => {
      const { zeros, linearCrossEntropy } = ops();
      const [x, weight] = [zeros([2, 3]), zeros([5, 3])];
      const ones = Float32Array.of(1, 1);
      expect(() => linearCrossEntropy(x, weight, Int32Array.of(0), ones)).toThrow(
        "linearCrossEntropy: labels.length is 1, expected x's 2 rows",
      );
      expect(() => linearCrossEntropy(x, weight, Int32Array.of(0, 5), ones)).toThrow(
        "linearCrossEntropy: labels[1] is 5, expected 0 ≤ label < 5 where the weight is not 0",
      );
      expect(() => linearCrossEntropy(x, weight, Int32Array.of(0, 1), ones, { chunkRows: 0 })).toThrow(
        "linearCrossEntropy: chunkRows is 0, expected a whole number from 1",
      );
    });
  });
});
