import { engineProblem, startEngine, type StartEngineOptions } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import { afterAll, beforeAll, describe } from "vitest";

/** In one thread, TensorFlow's from where the app has it. */
const options: StartEngineOptions = { threads: 1, resolveFrom: `${import.meta.dirname}/../../../apps/trainer` };
const missing = await engineProblem("tensorflow", options);

/** The tests of `body` on each engine in turn; on TensorFlow where its binding is, else skipped with the reason. */
export function describeEngines(body: (ops: () => Ops) => void): void {
  for (const name of ["cpu", "wasm", "tensorflow"] as const) {
    const skipped = name === "tensorflow" && missing !== null;
    describe.skipIf(skipped)(`on ${name}${skipped ? ` (skipped: ${missing})` : ""}`, () => {
      let ops: Ops;
      beforeAll(async () => void (ops = createOps(await startEngine(name, options))));
      afterAll(() => ops.engine.dispose());
      body(() => ops);
    });
  }
}
