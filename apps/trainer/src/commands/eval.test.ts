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

const question = (content: string): string => `${JSON.stringify({ messages: [{ role: "user", content }] })}\n`;

test("eval leaves out prompts that are too long, and gives no rate where there is none", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "mixed.jsonl"), question("word ".repeat(2048)) + question("How many?"));
  const args = [...short, "--drafter", drafter, "--data", "mixed.jsonl", "--max-new-tokens", "1"];
  const { code, stdout } = await dflash(args, folder);
  expect(code).toBe(0);
  expect(stdout).toContain("skipped    1, too long for the positions with their answers");
  expect(stdout).toContain("acceptance length    no round was needed");
  expect(stdout).toMatch(/speculative +no token after the prompts' own\nalone +no token/);
  expect(stdout).not.toContain("speed-up");
});

test("eval says in one line what it can't use", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "answers.jsonl"), '{"text":"no question"}\n');
  writeFileSync(join(folder, "long.jsonl"), question("word ".repeat(2048)));
  const failures: [string[], string][] = [
    [["--drafter", "nowhere"], "no drafter here; give the folder of a run"],
    [["--drafter", drafter, "--data", "answers.jsonl"], "answers.jsonl:1: the record has no question"],
    [["--drafter", drafter, "--block-size", "9"], "drafts blocks of up to 8; give at most that"],
    [["--drafter", drafter, "--json", "long.jsonl"], "--json long.jsonl: is there and wasn't written by this command"],
    [["--drafter", drafter, "--data", "long.jsonl"], "long.jsonl: no prompt has 2024 tokens or fewer"],
  ];
  for (const [args, message] of failures) {
    const { code, stdout, stderr } = await dflash([...short, ...args], folder);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain(message);
  }
});
