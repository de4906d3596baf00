import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dflash, repository, temporaryFolder } from "../dflash.test-support.ts";

const drafter = join(repository, "fixtures/drafter-b8");
const short = ["eval", "--threads", "1", "--engine", "wasm", "--max-new-tokens", "24"];

test("eval prints what a drafter is worth and writes the same figures", async () => {
  const folder = temporaryFolder();
  const done = await dflash(
    [...short, "--drafter", drafter, "--prompts", "3", "--batch", "2", "--json", "e.json"],
    folder,
  );
  expect(done.code).toBe(0);
  const result = JSON.parse(readFileSync(join(folder, "e.json"), "utf8"));
  const { acceptance, speculative, alone } = result;
  expect(result).toMatchObject({ prompts: 3, blockSize: 8, batch: 2, identical: 3 });
  expect(alone.tokens).toBe(speculative.tokens);
  expect(acceptance.histogram.reduce((sum: number, count: number) => sum + count, 0)).toBe(acceptance.rounds);
  expect(acceptance.pooled).toBeGreaterThan(1);
  expect(result.speedUp).toBeCloseTo(speculative.tokensPerSecond / alone.tokensPerSecond, 9);
  expect(done.stdout).toContain(
    `acceptance length    ${acceptance.pooled.toFixed(3)} pooled over ${acceptance.rounds} rounds`,
  );
  expect(done.stdout).toContain("same answers         3 of 3");
});

test("eval says in one line what it can't use", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "answers.jsonl"), '{"text":"no question"}\n');
  const failures: [string[], string][] = [
    [["--drafter", "nowhere"], "no drafter here; give the folder of a run"],
    [["--drafter", drafter, "--data", "answers.jsonl"], "answers.jsonl:1: the record has no question"],
    [["--drafter", drafter, "--block-size", "9"], "blockSize is 9, expected 1 to 8, the drafter's"],
  ];
  for (const [args, message] of failures) {
    const { code, stdout, stderr } = await dflash([...short, ...args], folder);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain(message);
  }
});
