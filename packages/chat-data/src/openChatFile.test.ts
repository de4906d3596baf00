import { execFileSync } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openChatFile } from "./openChatFile.ts";

let folder: string;
let path: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "chat-file-"));
  path = join(folder, "data.jsonl");
});
afterAll(() => rm(folder, { recursive: true }));

const record = (content: string) => JSON.stringify({ messages: [{ role: "user", content }] });

/** Opens a file with these bytes and reads what is said in it, from the last record to the first. */
async function contents(bytes: string | Buffer): Promise<unknown[]> {
  await writeFile(path, bytes);
  const file = await openChatFile(path);
  const read: unknown[] = [];
  for (let row = file.length - 1; row >= 0; row--) {
    const chat = await file.read(row);
    read.unshift("messages" in chat ? chat.messages[0]?.content : chat);
  }
  await file.close();
  return read;
}

describe("openChatFile", () => {
  it.runIf(process.platform !== "win32")("refuses a pipe in place of waiting for its writer", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    await expect(openChatFile(pipe)).rejects.toThrow(`${pipe}: not a regular file, expected a data file`);
  });

  it.each<[string, string | Buffer]>([
    ["JSONL", `${record("a")}\n${record("é\n")}\n`],
    ["JSONL without a newline at its end", `${record("a")}\n${record("é\n")}`],
    ["JSONL with Windows line ends and a byte order mark", `\uFEFF${record("a")}\r\n${record("é\n")}\r\n`],
    ["JSONL with blank lines", `\n\n${record("a")}\n  \n${record("é\n")}\n\n`],
    ["a JSON array", `[${record("a")},${record("é\n")}]`],
    ["an indented JSON array with a byte order mark", `\uFEFF \n[\n  ${record("a")},\r\n  ${record("é\n")}\n]\n`],
    ["packed JSONL", gzipSync(`${record("a")}\n${record("é\n")}\n`)],
    ["a packed JSON array", gzipSync(`[${record("a")},${record("é\n")}]`)],
  ])("reads %s", async (_, bytes) => {
    expect(await contents(bytes)).toEqual(["a", "é\n"]);
  });

  it("reads whatever was written, in any order", async () => {
    const text = fc.string({ unit: "grapheme" });
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1 }), fc.boolean(), async (texts, asArray) => {
        const records = texts.map(record);
        expect(await contents(asArray ? `[${records.join(",\n")}]` : records.join("\n"))).toEqual(texts);
      }),
      { numRuns: 50 },
    );
  });

  it.each<[string, string | Buffer, string]>([
    ["an empty file", "", "data.jsonl: holds no records, expected JSONL or a JSON array of them"],
    ["an empty array", "[]", "data.jsonl: holds no records"],
    ["a truncated line", `${record("a")}\n\n${record("b").slice(0, -5)}`, "data.jsonl:3: not JSON ("],
    ["a truncated array", `[${record("a")},\n${record("b")}`, "data.jsonl: line 1: the file ends inside the array"],
    ["a wrong type", `${record("a")}\r\n{"messages":5}\r\n`, "data.jsonl:2: messages is 5, expected a list"],
    [
      "a wrong type in an array",
      `[${record("a")},\n\n {"messages":5}]`,
      "data.jsonl:3: messages is 5, expected a list",
    ],
    ["a lone surrogate", `{"text":"\\ud800"}`, "data.jsonl:1: text holds a lone surrogate"],
    ["bytes that are no UTF-8", Buffer.from([0x22, 0xff, 0x22]), "data.jsonl:1: not text in UTF-8"],
    [
      "truncated gzip",
      gzipSync(record("a").repeat(100)).subarray(0, 40),
      "data.jsonl: the gzip data can't be unpacked (",
    ],
    [
      "damaged gzip",
      Buffer.from([0x1f, 0x8b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
      "data.jsonl: the gzip data can't be unpacked (",
    ],
  ])("refuses %s", async (_, bytes, message) => {
    await writeFile(path, bytes);
    await expect(openChatFile(path)).rejects.toThrow(message);
    await expect(openChatFile(path)).rejects.toThrow(/^.*$/);
  });

  it("refuses what is no file", async () => {
    await expect(openChatFile(join(folder, "none"))).rejects.toThrow(
      "none: cannot be opened (ENOENT), expected a data file",
    );
    await expect(openChatFile(folder)).rejects.toThrow("not a regular file, expected a data file");
  });

  it("leaves bad records out and counts them by reason, with onBad skip", async () => {
    await writeFile(path, [record("a"), "{", '{"messages":5}', "", '{"messages":5}', record("b")].join("\n"));
    const file = await openChatFile(path, { onBad: "skip" });
    expect([file.length, file.place(0), file.place(1)]).toEqual([2, `${path}:1`, `${path}:6`]);
    expect(file.bad).toEqual([
      { reason: "messages is 5, expected a list of { role, content }", count: 2, first: `${path}:3` },
      { reason: expect.stringContaining("not JSON"), count: 1, first: `${path}:2` },
    ]);
    await file.close();
  });

  it("refuses a line of 100 MB by its number, and goes on behind it with onBad skip", async () => {
    const megabyte = Buffer.alloc(1 << 20, "x");
    function* pieces(): Generator<Buffer> {
      yield Buffer.from(`${record("a")}\n`);
      for (let i = 0; i < 100; i++) yield megabyte;
      yield Buffer.from(`\n${record("b")}\n`);
    }
    await pipeline(Readable.from(pieces()), createWriteStream(path));
    await expect(openChatFile(path)).rejects.toThrow(
      `${path}:2: a record of 104857600 bytes, expected at most 16777216`,
    );
    const file = await openChatFile(path, { onBad: "skip" });
    expect(file.length).toBe(2);
    expect(await file.read(1)).toEqual(JSON.parse(record("b")));
    await file.close();
  });

  it("survives any damage: one line that names the file, or records of the right form", async () => {
    const good = Buffer.from(
      [record("a"), record("🙂\r\n"), '{"text":"x"}', '{"input_ids":[1,2],"loss_mask":[0,1]}'].join("\n"),
    );
    const edit = fc.record({
      at: fc.nat(good.length - 1),
      byte: fc.oneof(fc.nat(255), fc.constantFrom(10, 34, 92, 91, 123)),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(edit, { maxLength: 4 }),
        fc.nat(good.length),
        fc.boolean(),
        async (edits, length, pack) => {
          const bytes = Buffer.from(good.subarray(0, edits.length > 0 ? undefined : length));
          for (const { at, byte } of edits) bytes[at] = byte;
          const outcome = await contents(pack ? gzipSync(bytes) : bytes).then(() => "read", String);
          expect(outcome).toMatch(new RegExp(`^(Error: ${path}.+|read)$`));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("leaves no unpacked file behind", async () => {
    const before = (await readdir(tmpdir())).filter((name) => name.startsWith("chat-data-"));
    expect(await contents(gzipSync(record("a")))).toEqual(["a"]);
    expect((await readdir(tmpdir())).filter((name) => name.startsWith("chat-data-"))).toEqual(before);
  });
});
