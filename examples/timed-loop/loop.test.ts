import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("every step is reported, and what its sections took adds up to it", async () => {
  const loop = `${import.meta.dirname}/loop.ts`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", loop], {
    cwd: import.meta.dirname,
  });
  const steps = stdout.split("\n").filter((line) => line.startsWith("step "));
  expect(steps).toHaveLength(20);
  for (const line of steps) {
    const [, whole] = /^step \d+ {2}([\d.]+) ms/.exec(line)!;
    const parts = [...line.matchAll(/(?:make|compress|rest) ([\d.]+)/g)].map(([, ms]) => Number(ms));
    // Each of the four figures is rounded to a tenth.
    expect(Math.abs(parts.reduce((sum, ms) => sum + ms, 0) - Number(whole))).toBeLessThanOrEqual(0.21);
  }
});
