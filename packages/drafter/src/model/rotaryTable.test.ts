import { type Engine, startEngine } from "@dflash/engine";
import { createOps } from "@dflash/ops";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rotaryTable } from "./rotaryTable.ts";

let engine: Engine;
beforeAll(async () => void (engine = await startEngine("cpu")));
afterAll(() => engine.dispose());

test("far positions turn as far as in exact arithmetic, up to the rounding of their angle", async () => {
  const table = rotaryTable(createOps(engine), 30_001, 8, 10_000);
  const [cos, sin] = [await table.cos.read(), await table.sin.read()];
  for (const position of [0, 1, 100, 30_000]) {
    for (let i = 0; i < 4; i++) {
      const angle = position * 10_000 ** (-i / 4);
      // Angle and frequency are float32, each off by at most 2^-24 of itself; so are the table's values.
      const tolerance = angle * 2 ** -22 + 2 ** -22;
      expect(Math.abs(cos[position * 4 + i]! - Math.cos(angle))).toBeLessThan(tolerance);
      expect(Math.abs(sin[position * 4 + i]! - Math.sin(angle))).toBeLessThan(tolerance);
    }
  }
});
