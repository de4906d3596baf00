import { open } from "node:fs/promises";
import { oneLine, parseChatRecord, type ChatRecord } from "./chatRecord.ts";

/** A data file whose records can be read in any order. Only their places are held in memory. */
export interface ChatFile {
  readonly path: string;
  /** Records in the file. */
  readonly length: number;
  /** Reads one record. */
  read(row: number): Promise<ChatRecord>;
  /** Line of a record, from 1. */
  line(row: number): number;
  close(): Promise<void>;
}

/**
 * Opens a JSONL file of conversations and checks every line of it, so that a bad one is found before a long run and
 * not in the middle of it.
 *
 * @throws {Error} One line that names the file, the line and what was expected.
 */
export async function openChatFile(path: string): Promise<ChatFile> {
  const file = await open(path).catch((error: unknown) => {
    throw new Error(`${path}: cannot be opened (${oneLine(error)}), expected a JSONL file of conversations`, {
      cause: error,
    });
  });
  const places: { start: number; length: number; line: number }[] = [];
  try {
    let line = 0;
    for await (const { start, bytes } of lines(file.createReadStream({ autoClose: false, start: 0 }))) {
      line++;
      const text = bytes.toString("utf8");
      if (text.trim() === "") continue;
      parseLine(text, path, line);
      places.push({ start, length: bytes.length, line });
    }
    if (places.length === 0) throw new Error(`${path}: holds no records, expected a JSONL file of conversations`);
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    path,
    length: places.length,
    async read(row) {
      const { start, length, line } = places[row]!;
      const bytes = Buffer.alloc(length);
      await file.read(bytes, 0, length, start);
      return parseLine(bytes.toString("utf8"), path, line);
    },
    line: (row) => places[row]!.line,
    close: () => file.close(),
  };
}

/**
 * The lines of a stream of bytes.
 *
 * @yields {object} Each line without its end, and where it starts.
 */
async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<{ start: number; bytes: Buffer }> {
  let start = 0;
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let newline = chunk.indexOf(10); newline >= 0; newline = chunk.indexOf(10, from)) {
      const bytes = Buffer.concat([...rest, chunk.subarray(from, newline)]);
      yield { start, bytes };
      start += bytes.length + 1;
      rest = [];
      from = newline + 1;
    }
    rest.push(chunk.subarray(from));
  }
  const bytes = Buffer.concat(rest);
  if (bytes.length > 0) yield { start, bytes };
}

function parseLine(text: string, path: string, line: number): ChatRecord {
  try {
    return parseChatRecord(JSON.parse(text));
  } catch (error) {
    throw new Error(`${path}:${line}: ${oneLine(error)}`, { cause: error });
  }
}
