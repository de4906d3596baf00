import { join } from "node:path";
import { engineNames } from "@dflash/engine";
import { expect, test } from "vitest";
import { dflash, temporaryFolder } from "../dflash.test-support.ts";
import { readLog, steps } from "../runLog.test-support.ts";

/** How far a run's peak may lie above what doctor says of its batch: V8 collects its garbage when it likes. */
const factor = 1.25;

test("doctor says of each engine whether it works, and which batch fits: the flags that it prints, pasted, do", async () => {
  const folder = temporaryFolder();
  const run = ["--engine", "wasm", "--max-length", "128"];
  const { code, stdout } = await dflash(["doctor", "--memory", "0.4", ...run], folder);
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
  expect(stdout).toMatch(/^train takes (tensorflow-gpu|tensorflow|wasm) unless told otherwise$/m);

  const [, flags = "", told] = /^ {4}(--rows \d+ --anchors \d+) +at most (\d\.\d\d) GiB, /m.exec(stdout) ?? [];
  const pasted = await dflash(["train", ...flags.split(" "), ...run, "--steps", "2", "--out", "run"], folder);
  expect(pasted).toMatchObject({ code: 0, stderr: "" });
  const peak = Math.max(...steps(readLog(join(folder, "run"))).map(({ gauges }) => gauges["peak_rss_bytes"]!));
  const most = Number(told) * 2 ** 30;
  expect(most).toBeLessThanOrEqual(0.4 * 2 ** 30);
  expect(peak).toBeLessThan(factor * most);
  // And what is told is no fantasy: not all records are as long as they may be.
  expect(peak).toBeGreaterThan(most / 2);
}, 400_000);
