import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inspectChatData } from "./inspectChatData.ts";
import { loadTokenizer } from "./loadTokenizer.ts";
import { tinyTarget } from "./tokenizer.test-support.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "inspect-"))));
afterAll(() => rm(folder, { recursive: true }));

describe("inspectChatData", () => {
  it("reports rows, lengths and reasons, and shows what is supervised", async () => {
    const file = join(folder, "data.jsonl");
    const user = { role: "user", content: "q" };
    const lines = [
      JSON.stringify({ messages: [user, { role: "assistant", content: "yes 🙂" }] }),
      "{",
      JSON.stringify({ messages: [user] }),
      JSON.stringify({ input_ids: [5, 6, 7, 8], loss_mask: [0, 0, 1, 1] }),
      JSON.stringify({ input_ids: [5, 6, 7], loss_mask: [1, 1, 0] }),
    ];
    await writeFile(file, lines.join("\n"));
    const tokenizer = await loadTokenizer(tinyTarget);
    const report = await inspectChatData({ file, tokenizer, examples: 1 });

    const length = tokenizer.encode("<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\nyes 🙂<|im_end|>\n").length;
    const answer = tokenizer.encode("yes 🙂<|im_end|>\n").length;
    expect(report).toEqual({
      records: 5,
      rows: 3,
      skipped: [
        { reason: expect.stringContaining("not JSON"), count: 1, first: `${file}:2` },
        { reason: "two supervised tokens stand side by side nowhere in it", count: 1, first: `${file}:3` },
      ],
      truncatedRows: 0,
      tokens: length + 4 + 3,
      supervisedTokens: answer + 2 + 2,
      lengths: { min: 3, p50: 4, p90: length, p99: length, max: length },
      examples: [
        [
          { text: "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n", supervised: false },
          { text: "yes 🙂<|im_end|>\n", supervised: true },
        ],
      ],
    });
  });

  it("counts the rows that maxLength cuts", async () => {
    const file = join(folder, "long.jsonl");
    const lengths = Array.from({ length: 100 }, (_, i) => i + 1);
    await writeFile(file, lengths.map((length) => JSON.stringify({ input_ids: Array(length).fill(9) })).join("\n"));
    const report = await inspectChatData({ file, tokenizer: await loadTokenizer(tinyTarget), maxLength: 90 });
    expect(report).toMatchObject({ records: 100, rows: 99, truncatedRows: 10 });
    // Rows of 2 to 90 tokens, and ten more of 90.
    expect(report.lengths).toEqual({ min: 2, p50: 51, p90: 90, p99: 90, max: 90 });
    expect(report.tokens).toBe((90 * 91) / 2 - 1 + 10 * 90);
    expect(report.supervisedTokens).toBe(report.tokens);
  });
});
