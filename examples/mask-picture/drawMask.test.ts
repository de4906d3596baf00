import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("the picture shows as many dark tiles as the text", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mask-picture-"));
  try {
    const args = ["--import", "tsx", `${import.meta.dirname}/drawMask.ts`, join(folder, "mask.svg")];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
    const svg = readFileSync(join(folder, "mask.svg"), "utf8");
    // The last path draws the full tiles: one bar `h<width>v1` for neighbours.
    const bars = [...svg.slice(svg.lastIndexOf("<path")).matchAll(/h(\d+)v1/g)].map(([, width]) => Number(width));
    expect(bars.reduce((sum, width) => sum + width, 0)).toBe(stdout.match(/█/g)!.length);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
