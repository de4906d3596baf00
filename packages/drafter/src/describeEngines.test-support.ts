import { type EngineName, engineProblem, startEngine, type StartEngineOptions } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import { afterAll, beforeAll, describe } from "vitest";

/** In one thread, the optional engines from where the app has them. */
const options: StartEngineOptions = { threads: 1, resolveFrom: `${import.meta.dirname}/../../../apps/trainer` };

/** Why an engine is not tested here. WebGPU is, in the long lane: on a GPU in software it takes minutes. */
const missing = new Map<EngineName, string | null>([
  ["tensorflow", await engineProblem("tensorflow", options)],
  ["webgpu", process.env["DFLASH_LONG"] === "1" ? await engineProblem("webgpu", options) : "DFLASH_LONG=1"],
]);

/** The tests of `body` on each engine in turn; where one is missing they are skipped with the reason. */
export function describeEngines(body: (ops: () => Ops) => void): void {
  for (const name of ["cpu", "wasm", "tensorflow", "webgpu"] as const) {
    const problem = missing.get(name) ?? null;
    describe.skipIf(problem !== null)(`on ${name}${problem === null ? "" : ` (skipped: ${problem})`}`, () => {
      let ops: Ops;
      beforeAll(async () => void (ops = createOps(await startEngine(name, options))));
      afterAll(() => ops.engine.dispose());
      body(() => ops);
    });
  }
}
