import { loadTokenizer } from "@dflash/chat-data";
import { expect, test } from "vitest";
import { defaultTarget } from "../defaultTarget.ts";
import { textStream } from "./textStream.ts";

test("characters of several tokens come whole, and all text comes", async () => {
  const tokenizer = await loadTokenizer(defaultTarget);
  const text = "Zoë pays 5 € for 🦆🦆 and 猫.";
  const ids = tokenizer.encode(text);
  for (const size of [1, 2, 3, ids.length]) {
    const stream = textStream(tokenizer);
    const pieces: string[] = [];
    for (let start = 0; start < ids.length; start += size) pieces.push(stream.push(ids.slice(start, start + size)));
    expect(pieces.join("")).toBe(text);
    expect(pieces.join("|")).not.toContain("\uFFFD");
    expect(stream.end()).toBe("");
  }
});

test("what was cut within a character is shown at the end", async () => {
  const tokenizer = await loadTokenizer(defaultTarget);
  const stream = textStream(tokenizer);
  const first = tokenizer.encode("🦆").slice(0, 1);
  expect(stream.push(first)).toBe("");
  expect(stream.end()).toBe("\uFFFD");
});
