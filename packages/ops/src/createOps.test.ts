import { startEngine } from "@dflash/engine";
import { expect, test } from "vitest";
import { createOps } from "./createOps.ts";

test("forms say how each kernel is computed: fused where the engine has it, composed elsewhere and on request", async () => {
  const wasm = await startEngine("wasm", { threads: 1 });
  const { forms } = createOps(wasm);
  expect(forms).toMatchObject({
    linear: "fused",
    linearBackward: "fused",
    attention: "fused",
    linearCrossEntropy: "fused",
    adamW: "fused",
  });
  const composed = createOps(wasm, { fused: false }).forms;
  expect(Object.keys(composed)).toEqual(Object.keys(forms));
  expect(new Set(Object.values(composed))).toEqual(new Set(["composed"]));
  wasm.dispose();

  const cpu = await startEngine("cpu");
  expect(new Set(Object.values(createOps(cpu).forms))).toEqual(new Set(["composed"]));
  cpu.dispose();
});

test("tensors of one engine's ops are refused by another's", async () => {
  const engine = await startEngine("cpu");
  const [first, second] = [createOps(engine), createOps(engine)];
  const x = first.zeros([1]);
  expect(() => second.add(x, x)).toThrow("add: a is no tensor of these ops; upload its values here");
  engine.dispose();
});
