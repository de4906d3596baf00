import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createChatEncoder, hasSupervisedPair, type EncodedChat } from "./createChatEncoder.ts";
import { loadTokenizer, type ChatTokenizer } from "./loadTokenizer.ts";
import { tinyTarget, tokenizerWithTemplate } from "./tokenizer.test-support.ts";

const messages = [
  { role: "user", content: "How many?" },
  { role: "assistant", content: "It is 42." },
  { role: "user", content: "Sure?" },
  { role: "assistant", content: "Yes." },
];

describe("createChatEncoder", () => {
  let tokenizer: ChatTokenizer;
  beforeAll(async () => void (tokenizer = await loadTokenizer(tinyTarget)));

  const supervised = ({ ids, lossMask }: EncodedChat) => tokenizer.decode(ids.filter((_, t) => lossMask[t] === 1));

  it("supervises the answers, the tokens that end them and the newlines behind", () => {
    const encoded = createChatEncoder({ tokenizer })({ messages });
    expect(tokenizer.decode(encoded.ids)).toBe(tokenizer.applyChatTemplate(messages));
    expect(supervised(encoded)).toBe("It is 42.<|im_end|>\nYes.<|im_end|>\n");
    expect(encoded.truncated).toBe(0);
  });

  it("supervises the last answer only", () => {
    expect(supervised(createChatEncoder({ tokenizer, lastTurnOnly: true })({ messages }))).toBe("Yes.<|im_end|>\n");
  });

  it("cuts rows off at their end and says by how much", () => {
    const whole = createChatEncoder({ tokenizer })({ messages });
    const cut = createChatEncoder({ tokenizer, maxLength: 20 })({ messages });
    expect(cut.ids).toEqual(whole.ids.slice(0, 20));
    expect(cut.lossMask).toEqual(whole.lossMask.slice(0, 20));
    expect(cut.truncated).toBe(whole.ids.length - 20);
  });

  it("refuses a token that the target doesn't know, whoever tokenised it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "vocabulary-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    for (const name of ["tokenizer.json", "tokenizer_config.json"])
      await copyFile(join(tinyTarget, name), join(folder, name));
    const ids = Int32Array.from(tokenizer.encode("It is 42."));
    const vocabSize = Math.max(...ids);
    const lossMask = new Uint8Array(ids.length);
    const free = createChatEncoder({ tokenizer: await loadTokenizer(folder) });
    expect(free({ text: "It is 42." }).ids).toEqual(ids);
    await writeFile(join(folder, "config.json"), JSON.stringify({ vocab_size: vocabSize }));
    const encode = createChatEncoder({ tokenizer: await loadTokenizer(folder) });
    expect(() => encode({ text: "It is 42." })).toThrow(
      `${join(folder, "tokenizer.json")}: gives a token the id ${vocabSize}, the vocabulary of config.json has ${vocabSize}; the tokenizer is another model's, put the target's own there`,
    );
    expect(() => encode({ ids, lossMask })).toThrow(
      `token ${ids.indexOf(vocabSize)} has id ${vocabSize}, the target's vocabulary has ${vocabSize}; tokenise the data with the target's own tokenizer`,
    );
    const known = ids.filter((id) => id < vocabSize);
    expect(encode({ ids: known, lossMask: lossMask.subarray(0, known.length) }).ids).toEqual(known);
  });

  it("supervises a token that an answer shares with its header or with what follows it", async () => {
    // " ok" is one token, and so is ".\n" in no case: the space belongs to the template, the rest to the answer.
    const spaced = await tokenizerWithTemplate(
      "{% for message in messages %}{{ message.role }}: {{ message.content }}\n\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}",
    );
    const encoded = createChatEncoder({ tokenizer: spaced })({
      messages: [
        { role: "user", content: "q" },
        { role: "assistant", content: "Natalia" },
      ],
    });
    const pieces = Array.from(encoded.ids, (id) => spaced.decode([id]));
    expect(pieces.filter((_, t) => encoded.lossMask[t] === 1).join("")).toBe(" Natalia");
    expect(pieces.join("")).toBe("user: q\n\nassistant: Natalia\n\n");
  });

  it("supervises all of a plain text and nothing of an empty one", () => {
    const encode = createChatEncoder({ tokenizer });
    expect(supervised(encode({ text: "Natalia sold clips." }))).toBe("Natalia sold clips.");
    expect(encode({ text: "" })).toEqual({ ids: new Int32Array(), lossMask: new Uint8Array(), truncated: 0 });
  });

  it("supervises the answers in a text that the template has made, as in the conversation itself", () => {
    const encode = createChatEncoder({ tokenizer });
    expect(encode({ text: tokenizer.applyChatTemplate(messages) })).toEqual(encode({ messages }));
    expect(supervised(encode({ text: "<|im_start|>user\nq<|im_end|>\n" }))).toBe("");
  });

  it("takes token rows as they are", () => {
    const row = { ids: new Int32Array([5, 6, 7]), lossMask: new Uint8Array([0, 1, 1]) };
    expect(createChatEncoder({ tokenizer, maxLength: 2 })(row)).toEqual({
      ids: new Int32Array([5, 6]),
      lossMask: new Uint8Array([0, 1]),
      truncated: 1,
    });
  });

  it("names the template's own complaint", async () => {
    const strict = await tokenizerWithTemplate("{{ raise_exception('roles must alternate') }}");
    expect(() => createChatEncoder({ tokenizer: strict })({ messages })).toThrow(
      "the chat template refuses the conversation: roles must alternate",
    );
  });
});

it.each([
  [[], false],
  [[1], false],
  [[1, 0, 1, 0], false],
  [[0, 0, 1, 1], true],
])("hasSupervisedPair(%j) is %s", (lossMask, expected) => {
  expect(hasSupervisedPair({ ids: new Int32Array(lossMask.length), lossMask: Uint8Array.from(lossMask) })).toBe(
    expected,
  );
});
