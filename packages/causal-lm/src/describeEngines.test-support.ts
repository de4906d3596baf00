import { type EngineName, engineProblem, type StartEngineOptions } from "@dflash/engine";
import { describe } from "vitest";

/** How tests start an engine: in one thread, the optional ones from where the app has them. */
export const engineOptions: StartEngineOptions = {
  threads: 1,
  resolveFrom: `${import.meta.dirname}/../../../apps/trainer`,
};

/** Why an engine is not tested here. WebGPU is, in the long lane: on a GPU in software it takes minutes. */
const missing = new Map<EngineName, string | null>([
  ["tensorflow", await engineProblem("tensorflow", engineOptions)],
  ["webgpu", process.env["DFLASH_LONG"] === "1" ? await engineProblem("webgpu", engineOptions) : "DFLASH_LONG=1"],
]);

/** The tests of `body` on each of the engines; where one is missing they are skipped with the reason. */
export function describeEngines<Name extends EngineName>(names: readonly Name[], body: (name: Name) => void): void {
  for (const name of names) {
    const problem = missing.get(name) ?? null;
    describe.skipIf(problem !== null)(`on ${name}${problem === null ? "" : ` (skipped: ${problem})`}`, () => {
      body(name);
    });
  }
}
