import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

it("holds no more after another million steps", () => {
  const child = join(import.meta.dirname, "memory.test-child.ts");
  const output = execFileSync(process.execPath, ["--expose-gc", "--import", "tsx", child], { encoding: "utf8" });
  const [before, , after]: number[] = JSON.parse(output);
  expect(after! - before!).toBeLessThan(64 * 1024);
});
