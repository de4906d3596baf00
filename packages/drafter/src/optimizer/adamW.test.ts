import { type Engine, startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adamW, decayMatrices } from "./adamW.ts";

let engine: Engine;
beforeAll(async () => void (engine = await startEngine("cpu")));
afterAll(() => engine.dispose());

test("without gradients only the decay moves weights: of all, of matrices, or of those that a function names", async () => {
  const ops = createOps(engine);
  const decayed = async (weightDecay: Parameters<typeof adamW>[0]["weightDecay"]): Promise<number[]> => {
    const parameters = new Map([
      ["norm.weight", ops.upload(Float32Array.of(1), [1])],
      ["fc.weight", ops.upload(Float32Array.of(1), [1, 1])],
      ["q.weight", ops.upload(Float32Array.of(1), [1, 1])],
    ]);
    const gradients = new Map([...parameters].map(([name, { shape }]) => [name, ops.zeros(shape)]));
    const part = adamW({ ops, learningRate: () => 0.5, ...(weightDecay !== undefined && { weightDecay }) });
    part.update({ parameters, gradients, gradientNorm: 0, state: part.init(parameters), count: 1 });
    return Promise.all([...parameters.values()].map(async (tensor) => (await tensor.read())[0]!));
  };
  expect(await decayed(undefined)).toEqual([1, 1, 1]);
  expect(await decayed(0.5)).toEqual([0.75, 0.75, 0.75]);
  expect(await decayed(decayMatrices(0.5))).toEqual([1, 0.75, 0.75]);
  expect(await decayed((name) => (name === "q.weight" ? 1 : 0))).toEqual([1, 1, 0.5]);
});
