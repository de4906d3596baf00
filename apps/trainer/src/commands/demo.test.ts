import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dflash, temporaryFolder } from "../dflash.test-support.ts";

test.runIf(process.env["DFLASH_LONG"] === "1")(
  "demo trains, gives a verdict, follows it and compares (long lane: DFLASH_LONG=1)",
  async () => {
    const folder = temporaryFolder();
    const { code, stdout, stderr } = await dflash(["demo", "--out", "demo"], folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^2\. Verdict: .*\. Now try this/m);
    expect(stdout).toMatch(/^3\. \d+ tokens\/s before, \d+ after/m);
    expect(existsSync(join(folder, "demo/report.html"))).toBe(true);
  },
  600_000,
);

test("demo keeps what is there", async () => {
  const { code, stderr } = await dflash(["demo", "--out", "."], temporaryFolder());
  expect([code, stderr]).toEqual([1, "dflash: --out .: is there already; choose another folder, or remove it\n"]);
});
