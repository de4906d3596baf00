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

test("every command's help has examples", async () => {
  const { stdout } = await dflash(["--help"], temporaryFolder());
  const listed = stdout.slice(stdout.indexOf("Commands:")).matchAll(/^ {2}(\w+) /gm);
  const groups: Readonly<Record<string, string>> = { engine: "install", data: "inspect" };
  const names = [...listed].map(([, name]) => name!).filter((name) => name !== "help");
  expect(names).toEqual(expect.arrayContaining(["train", "demo", "doctor", "data"]));
  for (const name of names) {
    const args = [name, ...(groups[name] === undefined ? [] : [groups[name]]), "--help"];
    const help = await dflash(args, temporaryFolder());
    expect(help).toEqual({ code: 0, stdout: expect.stringMatching(/\nExamples:\n {2}pnpm dflash /), stderr: "" });
  }
});

test("--version prints the trainer's version and nothing else", async () => {
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(repository, "apps/trainer/package.json"), "utf8"),
  );
  expect(await dflash(["--version"], temporaryFolder())).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
});
