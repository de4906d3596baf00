import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultData } from "../defaultTarget.ts";
import { dflash, repository, temporaryFolder } from "../dflash.test-support.ts";

const drafter = join(repository, "fixtures/drafter-b8");

test("generate prints the target's answer, plain in a pipe, and what it took", async () => {
  const [question, answer] = JSON.parse(readFileSync(defaultData, "utf8").split("\n", 1)[0]!).messages;
  const args = ["generate", "--threads", "1", "--engine", "wasm", "--drafter", drafter, question.content];
  const { code, stdout, stderr } = await dflash(args, temporaryFolder());
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${answer.content}\n` });
  expect(stderr).toMatch(/^\d+ tokens in \d+ rounds, acceptance length \d\.\d\d, [\d.]+ tokens\/s, ended by stop\n$/);
});

test("generate refuses an empty question, and blocks without a drafter", async () => {
  const failures: [string[], string][] = [
    [[" "], "dflash: no question; give one"],
    [["--block-size", "4", "How many?"], "dflash: --block-size 4: blocks are a drafter's; give --drafter too"],
  ];
  for (const [args, message] of failures) {
    const { code, stdout, stderr } = await dflash(["generate", "--engine", "wasm", ...args], temporaryFolder());
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(message);
  }
});
