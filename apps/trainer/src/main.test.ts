import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dflash, repository, temporaryFolder } from "./dflash.test-support.ts";

test.each([
  ["", /^Usage: dflash .*\n(.*\n)*Commands:\n {2}train /],
  ["engine", /^Usage: dflash engine .*\n(.*\n)*Commands:\n {2}install /],
])("named alone, dflash %s shows its help", async (name, help) => {
  const args = name === "" ? [] : [name];
  expect(await dflash(args, temporaryFolder())).toEqual({ code: 0, stdout: expect.stringMatching(help), stderr: "" });
});

test("--version prints the trainer's version and nothing else", async () => {
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(repository, "apps/trainer/package.json"), "utf8"),
  );
  expect(await dflash(["--version"], temporaryFolder())).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
});
