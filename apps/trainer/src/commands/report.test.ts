import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dflash, temporaryFolder } from "../dflash.test-support.ts";
import { writeSampleLog } from "../report/sampleLog.test-support.ts";

test("report leaves a page in the run's folder, or where it is told, and says in one line what is no run", async () => {
  const folder = temporaryFolder();
  writeSampleLog(join(folder, "run"), { steps: 40 });
  const { code, stdout, stderr } = await dflash(["report", "run"], folder);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "the report is in run/report.html\n", stderr: "" });
  expect(readFileSync(join(folder, "run/report.html"), "utf8")).toMatch(/^<!doctype html>/);
  expect((await dflash(["report", "run", "run", "--out", "new/both.html"], folder)).code).toBe(0);
  expect(existsSync(join(folder, "new/both.html"))).toBe(true);
  // A page is written over, and nothing else.
  expect((await dflash(["report", "run"], folder)).code).toBe(0);
  for (const [out, problem] of [
    ["run/log.ndjson", "is there and wasn't written by this command; choose another file"],
    ["run", "is a folder; give a file"],
  ] as const) {
    const refused = await dflash(["report", "run", "--out", out], folder);
    expect([refused.code, refused.stderr]).toEqual([1, `dflash: --out ${out}: ${problem}\n`]);
  }
  const missing = await dflash(["report", "nowhere"], folder);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringMatching(/^dflash: nowhere: no such run; .*\n$/)]);
  const [header, ...steps] = readFileSync(join(folder, "run/log.ndjson"), "utf8").trimEnd().split("\n");
  writeFileSync(join(folder, "mixed"), [header, ...steps.slice(8), ...steps.slice(0, 8)].join("\n"));
  const mixed = await dflash(["report", "mixed"], folder);
  expect([mixed.code, mixed.stderr]).toEqual([
    1,
    "dflash: mixed: step 1 comes after step 40, expected them in order; give the log that one run wrote\n",
  ]);
});
