import { startEngine } from "@dflash/engine";
import { expect, test } from "vitest";
import { createOps } from "./createOps.ts";
import { measurePeakFlops } from "./measurePeakFlops.ts";

test("the peak is a number above 0, and measuring it leaves no tensor", async () => {
  const engine = await startEngine("wasm", { threads: 1 });
  const before = engine.memory().tensors;
  const peak = await measurePeakFlops(createOps(engine));
  expect(peak).toBeGreaterThan(0);
  expect(Number.isFinite(peak)).toBe(true);
  expect(engine.memory().tensors).toBe(before);
  engine.dispose();
});
