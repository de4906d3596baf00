import { engineProblem, startEngine } from "@dflash/engine";
import type { EngineName } from "@dflash/engine";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { createOps } from "./createOps.ts";
import type { Ops } from "./ops.ts";

const appFolder = `${import.meta.dirname}/../../../apps/trainer`;

const subjects: { engine: EngineName; fused: boolean }[] = [
  { engine: "cpu", fused: true },
  { engine: "wasm", fused: false },
  { engine: "wasm", fused: true },
  { engine: "tensorflow", fused: false },
  { engine: "tensorflow", fused: true },
  { engine: "webgpu", fused: false },
  { engine: "webgpu", fused: true },
];

/** Why an engine is not tested here. WebGPU is, in the long lane: on a GPU in software it takes minutes. */
const missing = new Map<EngineName, string | null>([
  ["tensorflow", await engineProblem("tensorflow", { threads: 1, resolveFrom: appFolder })],
  ["webgpu", process.env["DFLASH_LONG"] ? await engineProblem("webgpu", { resolveFrom: appFolder }) : "DFLASH_LONG=1"],
]);

/** Runs the tests of `body` on every engine that starts here, in each of its forms; after each test everything must be freed. */
export function describeOps(body: (ops: () => Ops) => void): void {
  for (const { engine: name, fused } of subjects) {
    const problem = missing.get(name) ?? null;
    const reason = problem === null ? "" : ` (skipped: ${problem})`;
    describe.skipIf(problem !== null)(`${name}, ${fused ? "as shipped" : "composed"}${reason}`, () => {
      let ops: Ops;
      let tensors: number;
      beforeAll(async () => {
        ops = createOps(await startEngine(name, { threads: 1, resolveFrom: appFolder }), { fused });
      });
      afterAll(() => ops.engine.dispose());
      beforeEach(() => {
        tensors = ops.engine.memory().tensors;
      });
      afterEach(() => {
        expect(ops.engine.memory().tensors).toBe(tensors);
      });
      body(() => ops);
    });
  }
}
