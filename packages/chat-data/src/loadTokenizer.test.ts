import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadTokenizer } from "./loadTokenizer.ts";
import { tinyTarget } from "./tokenizer.test-support.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tokenizer-"));
  await copyFile(join(tinyTarget, "tokenizer.json"), join(folder, "tokenizer.json"));
});
afterEach(() => rm(folder, { recursive: true }));

const writeConfig = (config: unknown) => writeFile(join(folder, "tokenizer_config.json"), JSON.stringify(config));
const hello = [{ role: "user", content: "hello" }];

describe("loadTokenizer", () => {
  it("knows the special tokens of the tiny target", async () => {
    const tokenizer = await loadTokenizer(tinyTarget);
    expect([...tokenizer.specialTokens]).toEqual([
      ["<|endoftext|>", 0],
      ["<|im_start|>", 1],
      ["<|im_end|>", 2],
      ["<|mask|>", 3],
    ]);
    expect([tokenizer.eosTokenId, tokenizer.padTokenId, tokenizer.maskTokenId]).toEqual([2, 0, 3]);
  });

  it("decodes what it encodes, special tokens included", async () => {
    const tokenizer = await loadTokenizer(tinyTarget);
    const text = fc.string({
      unit: fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("<|im_end|>", "\n", "  ")),
    });
    fc.assert(
      fc.property(text, (original) => {
        expect(tokenizer.decode(tokenizer.encode(original))).toBe(original);
      }),
    );
  });

  it("gives the template the named tokens, the tools and its options", async () => {
    await writeConfig({
      bos_token: { content: "<|endoftext|>" },
      chat_template:
        "{{ bos_token }}{{ messages[0].content }}{{ tools | length if tools else 0 }}{{ add_generation_prompt }}{{ style }}{{ eos_token }}",
    });
    const tokenizer = await loadTokenizer(folder, { templateOptions: { style: "brief" } });
    expect(tokenizer.applyChatTemplate(hello)).toBe("<|endoftext|>hello0falsebrief");
    expect(tokenizer.applyChatTemplate(hello, { addGenerationPrompt: true, tools: [1, 2] })).toBe(
      "<|endoftext|>hello2truebrief",
    );
    expect([tokenizer.eosTokenId, tokenizer.padTokenId]).toEqual([undefined, undefined]);
  });

  it("takes the default of several templates, and chat_template.jinja before all", async () => {
    const named = [
      { name: "tool_use", template: "tools" },
      { name: "default", template: "default" },
    ];
    await writeConfig({ chat_template: named });
    expect((await loadTokenizer(folder)).applyChatTemplate(hello)).toBe("default");
    await writeFile(join(folder, "chat_template.jinja"), "file");
    expect((await loadTokenizer(folder)).applyChatTemplate(hello)).toBe("file");
  });

  it("loads without a template and says so when one is needed", async () => {
    await writeConfig({});
    const tokenizer = await loadTokenizer(folder);
    expect(() => tokenizer.applyChatTemplate(hello)).toThrow(`${folder}: no chat template, expected chat_template`);
  });

  it.each<[string, string, string]>([
    ["tokenizer_config.json", "{", "tokenizer_config.json: cannot be read ("],
    ["tokenizer_config.json", "[]", "tokenizer_config.json: holds [], expected a JSON object"],
    ["tokenizer_config.json", '{"chat_template": 5}', "tokenizer_config.json: chat_template is 5, expected a string"],
    ["tokenizer_config.json", '{"chat_template": "{% if %}"}', "the chat template can't be parsed: "],
    ["tokenizer.json", "{}", "tokenizer.json: not a tokenizer that can be built: "],
  ])("refuses a %s that holds %s", async (name, text, message) => {
    await writeConfig({});
    await writeFile(join(folder, name), text);
    await expect(loadTokenizer(folder)).rejects.toThrow(message);
    await expect(loadTokenizer(folder)).rejects.toThrow(/^.*$/);
  });

  it("names the file that isn't there", async () => {
    await expect(loadTokenizer(join(folder, "none"))).rejects.toThrow("tokenizer_config.json: cannot be read (ENOENT)");
  });
});
