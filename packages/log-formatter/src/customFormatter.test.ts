import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { loadFormatter } from "./loadFormatter.ts";
import { stepOf } from "./record.test-support.ts";
import { checkFormatter } from "./testing/checkFormatter.ts";

const repository = join(import.meta.dirname, "../../..");
const example = join(repository, "examples/custom-formatter/formatter.ts");
const folder = mkdtempSync(join(tmpdir(), "custom-formatter-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("the example is shorter than 40 lines and stands hostile records", async () => {
  expect(readFileSync(example, "utf8").split("\n").length).toBeLessThan(40);
  const factory = await loadFormatter(example);
  expect(() => checkFormatter(factory)).not.toThrow();
  const [legend, bar] = (factory({ color: false, columns: null }).step(stepOf(1)) as string).split("\n");
  expect(legend).toBe("█ drafter/backward  ▓ load");
  // 45 ms and 2.9 ms of 48.1 ms in 40 cells.
  expect(bar).toBe(`     1 ${"█".repeat(37)}▓▓  48 ms`);
});

/** A Node of this major version: our own, or one that npx has in its cache. */
function node(major: number): string | undefined {
  if (process.version.startsWith(`v${major}.`)) return process.execPath;
  const { status, stdout } = spawnSync("npx", ["--offline", "--yes", "-p", `node@${major}`, "-c", "command -v node"], {
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : undefined;
}

test.for([20, 24])(
  "it prints the steps of a real run on Node %i (skipped where that Node is not at hand)",
  async (major, { skip }) => {
    const binary = node(major);
    skip(binary === undefined, `no Node ${major} here`);
    const main = join(repository, "apps/trainer/src/main.ts");
    const args = [
      "--import",
      import.meta.resolve("tsx"),
      main,
      "train",
      "--steps",
      "2",
      "--rows",
      "1",
      "--anchors",
      "4",
      "--max-length",
      "48",
      "--log-format",
      example,
      "--out",
      join(folder, `run-${major}`),
    ];
    const { stdout } = await promisify(execFile)(binary!, args, { cwd: repository });
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toContain("█ ");
    expect(lines.slice(1).map((line) => line.slice(0, 6))).toEqual(["     1", "     2"]);
  },
);
