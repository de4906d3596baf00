import { engineNames } from "@dflash/engine";
import { expect, test } from "vitest";
import { dflash, temporaryFolder } from "../dflash.test-support.ts";

test("doctor says of each engine whether it works, and of those that do how", async () => {
  const { code, stdout } = await dflash(["doctor"], temporaryFolder());
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  expect(lines[0]).toMatch(/^node {2}v\d+\.\d+\.\d+, .* cores, \d+\.\d GiB of memory$/);
  for (const name of engineNames)
    expect(lines.filter((line) => /^[✓✗] /.test(line) && line.split(" ")[1] === name)).toHaveLength(1);
  for (const name of ["wasm", "cpu"]) {
    const at = lines.findIndex((line) => line.startsWith(`✓ ${name}  `));
    expect(at).toBeGreaterThan(0);
    expect(lines[at + 1]).toMatch(/^ {4}products {4}\d+\.\d GFLOP\/s$/);
    expect(lines[at + 2]).toMatch(/^ {4}gradients {3}right: /);
  }
  expect(lines.at(-1)).toMatch(/^train takes (tensorflow-gpu|tensorflow|wasm) unless told otherwise$/);
});
