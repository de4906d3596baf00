import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createChatBatches, type ChatBatch, type ChatBatchesOptions } from "./createChatBatches.ts";
import { createChatEncoder } from "./createChatEncoder.ts";
import { loadTokenizer, type ChatTokenizer } from "./loadTokenizer.ts";
import { tinyTarget, tokenizerWithTemplate } from "./tokenizer.test-support.ts";

const gsm8k = join(import.meta.dirname, "../../../data/gsm8k/test.tiny-target.jsonl");

let tokenizer: ChatTokenizer;
let folder: string;
let file: string;
/** Content of the answers; every third row has nothing to learn from. */
const said = Array.from({ length: 30 }, (_, i) => "ok ".repeat(1 + ((i * 7) % 30)));

beforeAll(async () => {
  tokenizer = await loadTokenizer(tinyTarget);
  folder = await mkdtemp(join(tmpdir(), "chat-batches-"));
  file = join(folder, "data.jsonl");
  const lines = said.map((content, i) =>
    JSON.stringify({
      messages: [
        { role: "user", content: `question ${i}` },
        { role: i % 3 === 2 ? "user" : "assistant", content },
      ],
    }),
  );
  await writeFile(file, lines.join("\n"));
});
afterAll(() => rm(folder, { recursive: true }));

/** The first batches of a run, and what it has counted by then. */
async function take(count: number, options: Partial<ChatBatchesOptions>) {
  const batches = await createChatBatches({ file, tokenizer, ...options });
  const taken: ChatBatch[] = [];
  try {
    if (count > 0) {
      for await (const batch of batches) if (taken.push(batch) === count) break;
    }
  } finally {
    await batches.close();
  }
  return { taken, counters: batches.counters, records: batches.records, bad: batches.bad };
}

const rowsOf = ({ ids, rowStarts }: ChatBatch) =>
  Array.from(rowStarts.subarray(1), (end, r) => ids.subarray(rowStarts[r], end).join());

describe("createChatBatches", () => {
  it("hands out each usable row once an epoch, as the encoder makes it", async () => {
    const encode = createChatEncoder({ tokenizer });
    const encoded = said.map((content, i) =>
      encode({
        messages: [
          { role: "user", content: `question ${i}` },
          { role: "assistant", content },
        ],
      }).ids.join(),
    );
    const expected = encoded.filter((_, i) => i % 3 !== 2);
    const { taken, counters, records } = await take(10, { batchRows: 4 });
    expect(taken.slice(0, 5).flatMap(rowsOf).toSorted()).toEqual(expected.toSorted());
    expect(taken.slice(5).flatMap(rowsOf).toSorted()).toEqual(expected.toSorted());
    expect(taken.slice(0, 5).flatMap(rowsOf)).not.toEqual(taken.slice(5).flatMap(rowsOf));
    expect(taken.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for (const batch of taken) expect(rowsOf(batch)).toEqual(Array.from(batch.records, (record) => encoded[record]));
    expect(records).toBe(30);
    expect(counters).toMatchObject({ rows: 40, paddingTokens: 0, truncatedRows: 0, badRows: 0 });
    expect(counters.tokens).toBe(taken.reduce((sum, { ids }) => sum + ids.length, 0));
    expect(counters.supervisedTokens).toBe(taken.flatMap(({ lossMask }) => [...lossMask]).filter(Boolean).length);
    // The second epoch may end with rows that are left out, which the tenth batch doesn't reach.
    expect(counters.unsupervisedRows).toBeGreaterThanOrEqual(10);
    expect(counters.unsupervisedRows).toBeLessThanOrEqual(20);
  });

  it.each<[string, Partial<ChatBatchesOptions>]>([
    ["rows", { batchRows: 3 }],
    ["length buckets", { batchRows: 3, lengthBuckets: [16, 32, 64] }],
    ["packed rows", { batchTokens: 96 }],
  ])("goes on from any batch exactly as if it had not stopped: %s", async (_, options) => {
    const { taken } = await take(40, { ...options, seed: 5 });
    for (const stop of [0, 1, 6, 7, 20, 38]) {
      const { taken: rest } = await take(39 - stop, { ...options, seed: 5, start: taken[stop]!.next });
      expect(rest).toEqual(taken.slice(stop + 1));
    }
    expect((await take(40, { ...options, seed: 5 })).taken).toEqual(taken);
    expect((await take(40, { ...options, seed: 6 })).taken).not.toEqual(taken);
  });

  it("has few distinct shapes with length buckets, and reports the padding", async () => {
    const { taken, counters } = await take(30, { batchRows: 2, lengthBuckets: [32, 48, 64] });
    const shapes = new Set(taken.map(({ rowStarts }) => rowStarts.join()));
    expect(shapes.size).toBeGreaterThan(1);
    expect([...shapes].every((shape) => ["0,32,64", "0,48,96", "0,64,128"].includes(shape))).toBe(true);
    const padding = taken.flatMap(({ ids }) => [...ids]).filter((id) => id === tokenizer.padTokenId).length;
    expect(counters.paddingTokens).toBe(padding);
  });

  it("has one shape with packed rows, each row a document of its own", async () => {
    const { taken, counters } = await take(30, { batchTokens: 128 });
    expect(taken.every(({ ids, rowStarts }) => ids.length === 128 && rowStarts.at(-1) === 128)).toBe(true);
    const imStart = tokenizer.specialTokens.get("<|im_start|>");
    expect(
      taken.every(({ ids, rowStarts }) => rowStarts.subarray(0, -1).every((start) => ids[start] === imStart)),
    ).toBe(true);
    const padding = taken.flatMap(({ ids }) => [...ids]).filter((id) => id === tokenizer.padTokenId).length;
    expect(counters.paddingTokens).toBe(padding);
  });

  it("ends after its epochs, the last batch with what is left", async () => {
    const { taken } = await take(Infinity, { batchRows: 6, epochs: 1 });
    expect(taken.map(({ rowStarts }) => rowStarts.length - 1)).toEqual([6, 6, 6, 2]);
    expect((await take(Infinity, { batchRows: 6, epochs: 1, start: taken[1]!.next })).taken).toEqual(taken.slice(2));
    expect((await take(Infinity, { batchRows: 6, epochs: 1, start: taken[3]!.next })).taken).toEqual([]);
  });

  it("cuts rows at maxLength and leaves out those whose answers are cut off", async () => {
    const { taken, counters } = await take(4, { batchRows: 4, maxLength: 24 });
    expect(
      Math.max(...taken.flatMap(({ rowStarts }) => [...rowStarts.subarray(1)].map((end, r) => end - rowStarts[r]!))),
    ).toBe(24);
    expect(counters.truncatedRows).toBeGreaterThan(0);
    await expect(take(1, { batchRows: 1, maxLength: 5 })).rejects.toThrow(
      `${file}: two supervised tokens stand side by side in none of its 30 records`,
    );
  });

  it("names file and line of a record that the template refuses, or leaves it out and counts it", async () => {
    const strict = await tokenizerWithTemplate(
      "{% for m in messages %}{% if m.content == 'bad' %}{{ raise_exception('no bad') }}{% endif %}" +
        "{{ m.role }}: {{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}",
    );
    const mixed = join(folder, "mixed.jsonl");
    const lines = ["good", "bad", "fine"].map((content) =>
      JSON.stringify({
        messages: [
          { role: "user", content: "q" },
          { role: "assistant", content },
        ],
      }),
    );
    await writeFile(mixed, ["{", ...lines].join("\n"));
    const options = { file: mixed, tokenizer: strict, batchRows: 2, epochs: 1 };
    const { taken, counters, bad } = await take(Infinity, { ...options, onBad: "skip" });
    expect([taken.length, counters.rows, counters.badRows, bad.length]).toEqual([1, 2, 1, 1]);
    await expect(take(1, options)).rejects.toThrow(`${mixed}:1: not JSON`);
    await writeFile(mixed, lines.join("\n"));
    await expect(take(2, options)).rejects.toThrow(`${mixed}:2: the chat template refuses the conversation: no bad`);
    await writeFile(mixed, lines[1]!);
    await expect(take(1, { ...options, onBad: "skip" })).rejects.toThrow(
      `${mixed}: none of its 1 records can be used (one of them: ${mixed}:1: the chat template refuses the conversation: no bad`,
    );
  });

  it("reads the committed data as it is", async () => {
    const { taken, records, bad } = await take(3, { file: gsm8k, batchRows: 2, maxLength: 512 });
    expect([records, bad, taken.length]).toEqual([1319, [], 3]);
  });
});
