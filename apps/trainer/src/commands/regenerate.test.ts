import { cpSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultData, defaultTarget } from "../defaultTarget.ts";
import { dflash, repository, temporaryFolder } from "../dflash.test-support.ts";

const drafter = ["--drafter", join(repository, "fixtures/drafter-b8")];
const engine = ["--threads", "1", "--engine", "wasm"];
const lines = (file: string): unknown[] =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

test("regenerate gives the committed answers again, which PyTorch generated, and goes on with half a file", async () => {
  const folder = temporaryFolder();
  const out = join(folder, "new", "answers.jsonl");
  const run = ["regenerate", ...engine, ...drafter, "--batch", "2", "--out", "new/answers.jsonl"];
  expect(await dflash([...run, "--records", "3"], folder)).toMatchObject({ code: 0 });
  const committed = readFileSync(defaultData, "utf8").split("\n", 4);
  const expected = committed.map((line, record) => ({ record, ...JSON.parse(line), finish: "stop" }));
  expect(lines(out)).toEqual(expected.slice(0, 3));

  truncateSync(out, readFileSync(out).length - 9);
  const further = await dflash([...run, "--records", "4"], folder);
  expect(further.stdout).toContain("2 records are there\nfinished   4\n");
  expect(lines(out)).toEqual(expected);
  const other = await dflash([...run, "--records", "5", "--seed", "1"], folder);
  expect(other).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/with seed 0, not 1; use the same, or choose/),
  });
  expect(lines(out)).toEqual(expected);
});

const say = (role: string, content: unknown) => ({ role, content });

const question = (text: string): string => `${JSON.stringify({ messages: [say("user", text)] })}\n`;

/** What a command says and ends with that finds other answers. */
const refused = (field: string) => ({
  code: 1,
  stderr: expect.stringMatching(
    new RegExp(
      `^dflash: .*answers.jsonl: was begun with ${field} "[0-9a-f]{8}", not "[0-9a-f]{8}"; use the same, or choose another --out\n$`,
    ),
  ),
});

test("answers of another target or of other data, though called the same, are refused by the field's name", async () => {
  const folder = temporaryFolder();
  cpSync(defaultTarget, join(folder, "target"), { recursive: true });
  const data = join(folder, "chats.jsonl");
  writeFileSync(data, question("1 + 1?"));
  const run = ["regenerate", ...engine, "--target", "target", "--data", "chats.jsonl", "--max-new-tokens", "2"];
  const again = async () => dflash([...run, "--out", "answers.jsonl"], folder);
  expect(await again()).toMatchObject({ code: 0 });
  expect(await again()).toMatchObject({ code: 0 });
  writeFileSync(data, question("1 + 2?"));
  expect(await again()).toMatchObject(refused("dataChecksum"));
  const weights = join(folder, "target", "model.safetensors");
  const bytes = readFileSync(weights);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(weights, bytes);
  expect(await again()).toMatchObject(refused("targetChecksum"));
});

test("each turn is answered after the new answers before it, the same with and without a drafter", async () => {
  const folder = temporaryFolder();
  const records = [
    { messages: [say("assistant", "I begin.")] },
    { messages: [say("system", "Count."), say("user", "2 eggs?"), say("assistant", "old"), say("user", "And 3?")] },
    { text: "no question" },
    { messages: [say("user", "x ".repeat(2000)), say("assistant", "too long")] },
  ];
  writeFileSync(join(folder, "chats.jsonl"), records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  const run = ["regenerate", ...engine, "--data", "chats.jsonl", "--temperature", "0.7", "--max-new-tokens", "150"];
  const counts = /finished {3}(\d).*\ntruncated {2}(\d).*\nskipped {4}3/;
  expect((await dflash([...run, "--out", "a.jsonl"], folder)).stdout).toMatch(counts);
  expect((await dflash([...run, ...drafter, "--out", "b.jsonl"], folder)).stdout).toMatch(counts);
  const answers = lines(join(folder, "a.jsonl"));
  expect(lines(join(folder, "b.jsonl"))).toEqual(answers);
  expect(answers).toEqual([
    {
      record: 1,
      messages: [
        say("system", "Count."),
        say("user", "2 eggs?"),
        say("assistant", expect.any(String)),
        say("user", "And 3?"),
        say("assistant", expect.any(String)),
      ],
      finish: "stop",
    },
  ]);
  expect(JSON.stringify(answers)).not.toContain("old");
});
