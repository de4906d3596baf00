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
];

const missing = await engineProblem("tensorflow", { threads: 1, resolveFrom: appFolder });

/** Runs the tests of `body` on every engine that starts here, in each of its forms; after each test everything must be freed. */
export function describeOps(body: (ops: () => Ops) => void): void {
  for (const { engine: name, fused } of subjects) {
    const skipped = name === "tensorflow" && missing !== null;
    const reason = skipped ? ` (skipped: ${missing})` : "";
    describe.skipIf(skipped)(`${name}, ${fused ? "as shipped" : "composed"}${reason}`, () => {
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
