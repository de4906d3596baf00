import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseChatRecord } from "./chatRecord.ts";
import { createChatEncoder } from "./createChatEncoder.ts";
import { loadTokenizer } from "./loadTokenizer.ts";

interface FixtureRow {
  readonly messages: unknown;
  readonly text: string;
  readonly input_ids: number[];
  readonly loss_mask: number[];
}

const root = join(import.meta.dirname, "../../..");
const fixtures = process.env.DFLASH_FIXTURES ?? join(root, "fixtures");
const { rows }: { rows: FixtureRow[] } = JSON.parse(await readFile(join(fixtures, "chat-data.json"), "utf8"));
const tokenizer = await loadTokenizer(join(root, "data/tiny-target"));
const encode = createChatEncoder({ tokenizer });

describe("chat-data.json", () => {
  it.each(rows.map((row, i) => [i, row] as const))("row %i has the same text, ids and loss mask", (_, row) => {
    const record = parseChatRecord({ messages: row.messages });
    const { ids, lossMask } = encode(record);
    expect("messages" in record && tokenizer.applyChatTemplate(record.messages)).toBe(row.text);
    expect([...ids]).toEqual(row.input_ids);
    expect([...lossMask]).toEqual(row.loss_mask);
  });
});
