import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dflash, repository, temporaryFolder } from "./dflash.test-support.ts";

test("--version prints the trainer's version and nothing else", async () => {
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(repository, "apps/trainer/package.json"), "utf8"),
  );
  expect(await dflash(["--version"], temporaryFolder())).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
});
