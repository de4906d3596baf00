import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../dflash.test-support.ts";
import { openAnswerFile } from "./openAnswerFile.ts";

const settings = { seed: 1 };

/** A file with the answers to these records. */
async function written(...texts: string[]): Promise<string> {
  const path = join(temporaryFolder(), "answers.jsonl");
  const file = await openAnswerFile(path, settings);
  await file.write(texts.map((content) => ({ messages: [{ role: "assistant", content }], finish: "stop" })));
  await file.close();
  return path;
}

async function nextIn(path: string): Promise<number> {
  const file = await openAnswerFile(path, settings);
  await file.close();
  return file.next;
}

test("half a line is cut off wherever it ends, and nothing else, whatever ends the lines", async () => {
  const path = await written("a", "b\u2028", "猫");
  const text = readFileSync(path, "utf8").replaceAll("\n", "\r\n");
  writeFileSync(path, text);
  expect(await nextIn(path)).toBe(3);
  expect(readFileSync(path, "utf8")).toBe(text);
  const two = text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1);
  // Within a character, so that its bytes are none.
  truncateSync(path, Buffer.byteLength(text.slice(0, text.indexOf("猫"))) + 1);
  expect(await nextIn(path)).toBe(2);
  expect(readFileSync(path, "utf8")).toBe(two);
});

test("a file that isn't as it was written is refused with its place, and left as it is", async () => {
  const twice = await written("a", "b");
  const text = readFileSync(twice, "utf8");
  writeFileSync(twice, text + text);
  await expect(nextIn(twice)).rejects.toThrow(`${twice}:3: record 0 comes after record 1; choose another --out`);
  expect(readFileSync(twice, "utf8")).toBe(text + text);
  const damaged = await written("a");
  writeFileSync(`${damaged}.settings.json`, '{"se');
  await expect(nextIn(damaged)).rejects.toThrow(`${damaged}.settings.json: not JSON`);
});
