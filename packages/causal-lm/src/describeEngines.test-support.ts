import { type EngineName, engineProblem, type StartEngineOptions } from "@dflash/engine";
import { describe } from "vitest";

/** How tests start an engine: in one thread, TensorFlow's from where the app has it. */
export const engineOptions: StartEngineOptions = {
  threads: 1,
  resolveFrom: `${import.meta.dirname}/../../../apps/trainer`,
};

const missing = await engineProblem("tensorflow", engineOptions);

/** The tests of `body` on each of the engines; on TensorFlow where its binding is, else skipped with the reason. */
export function describeEngines<Name extends EngineName>(names: readonly Name[], body: (name: Name) => void): void {
  for (const name of names) {
    const skipped = name === "tensorflow" && missing !== null;
    describe.skipIf(skipped)(`on ${name}${skipped ? ` (skipped: ${missing})` : ""}`, () => {
      body(name);
    });
  }
}
