import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitJsonArray, splitLines, type RawRecord } from "./splitRecords.ts";

/**
 * A text's bytes in pieces.
 *
 * @yields {Buffer} Chunks that end at these positions.
 */
async function* chunksOf(text: string, cuts: readonly number[] = []): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b);
  let start = 0;
  for (const end of [...ends, bytes.length]) {
    yield bytes.subarray(start, end);
    start = end;
  }
}

async function collect(records: AsyncIterable<RawRecord>): Promise<RawRecord[]> {
  const all: RawRecord[] = [];
  for await (const record of records) all.push(record);
  return all;
}

const json = fc.jsonValue().map((value) => JSON.stringify(value));
const space = fc.string({ unit: fc.constantFrom(" ", "\n", "\t", "\r"), maxLength: 3 });
const cuts = fc.array(fc.nat(), { maxLength: 20 });

/** The line of a byte position, by counting. */
const lineAt = (text: string, position: number) =>
  Buffer.from(text).subarray(0, position).toString().split("\n").length;

describe("splitLines", () => {
  it("gives each line that isn't blank, its place and its number, whatever the chunks", async () => {
    const line = fc.oneof(json, fc.constantFrom("", "  ", "\r"));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.boolean(), cuts, async (lines, endsWithNewline, where) => {
        const text = lines.join("\n") + (endsWithNewline ? "\n" : "");
        const records = await collect(splitLines(chunksOf(text, where), 1e6));
        const expected = lines
          .map((content, i) => ({ content, line: i + 1 }))
          .filter(({ content }) => content.trim() !== "");
        expect(records.map(({ bytes, line: number }) => ({ content: String(bytes), line: number }))).toEqual(expected);
        for (const { start, length, bytes } of records) {
          expect(
            Buffer.from(text)
              .subarray(start, start + length)
              .equals(bytes!),
          ).toBe(true);
        }
      }),
    );
  });

  it("goes on behind a line that is too long, without its bytes", async () => {
    const records = await collect(splitLines(chunksOf(`1\n${"x".repeat(50)}\n2`, [3, 9, 20]), 10));
    expect(records.map(({ bytes, length, line }) => [bytes?.toString(), length, line])).toEqual([
      ["1", 1, 1],
      [undefined, 50, 2],
      ["2", 1, 3],
    ]);
  });
});

describe("splitJsonArray", () => {
  it("gives each element, its place and its line, whatever the chunks and the spaces", async () => {
    const element = fc.tuple(space, json, space);
    await fc.assert(
      fc.asyncProperty(space, fc.array(element), space, cuts, async (before, elements, behind, where) => {
        const text = `${before}[${elements.map((parts) => parts.join("")).join(",")}]${behind}`;
        const records = await collect(splitJsonArray(chunksOf(text, where), 1e6));
        expect(records.map(({ bytes }): unknown => JSON.parse(String(bytes)))).toEqual(JSON.parse(text));
        for (const { start, length, line, bytes } of records) {
          expect(
            Buffer.from(text)
              .subarray(start, start + length)
              .equals(bytes!),
          ).toBe(true);
          expect(line).toBe(
            lineAt(text, start + bytes!.findIndex((byte) => !" \n\t\r".includes(String.fromCharCode(byte)))),
          );
        }
      }),
    );
  });

  it("goes on behind an element that is too long, without its bytes", async () => {
    const records = await collect(splitJsonArray(chunksOf(`[1,\n"${"],[".repeat(20)}",\n2]`, [5, 9, 20]), 10));
    expect(records.map(({ bytes }) => bytes?.toString().trim())).toEqual(["1", undefined, "2"]);
  });

  it.each([
    ["[1,\n2", "line 1: the file ends inside the array or the record that begins here"],
    ['[1,\n{"a": "', "line 1: the file ends inside"],
    ["[1]\n\n2", "line 3: text behind the end of the array, expected none"],
    ["[1]]", "line 1: text behind the end of the array, expected none"],
    ["[1,\n,2]", "line 2: nothing before a comma or the end of the array"],
    ["[1,\n]", "line 2: nothing before a comma or the end of the array"],
    ["[,]", "line 1: nothing before a comma"],
  ])("refuses %j", async (text, message) => {
    await expect(collect(splitJsonArray(chunksOf(text), 100))).rejects.toThrow(message);
  });
});
