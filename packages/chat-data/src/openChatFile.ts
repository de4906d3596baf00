import { createReadStream } from "node:fs";
import { mkdtemp, open, rm, rmdir, stat, writeFile, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { parseChatRecord, type ChatRecord } from "./chatRecord.ts";
import { oneLine } from "./oneLine.ts";
import { createSkipTally, type SkipReason } from "./skipTally.ts";
import { splitJsonArray, splitLines, type RawRecord } from "./splitRecords.ts";

/** Options of {@link openChatFile}. */
export interface OpenChatFileOptions {
  /** What a record that can't be read does: end with an error (default), or be left out and counted. */
  readonly onBad?: "stop" | "skip";
}

/** A data file whose records can be read in any order. Only their places are held in memory. */
export interface ChatFile {
  /** The file, as it was given. */
  readonly path: string;
  /** Records that can be read. */
  readonly length: number;
  /** Records that were left out, with `onBad: "skip"`. */
  readonly bad: readonly SkipReason[];
  /** Reads one record. */
  read(row: number): Promise<ChatRecord>;
  /** File and line of a record, for messages. */
  place(row: number): string;
  /** Closes the file; further reads fail. */
  close(): Promise<void>;
}

/** Longer records are refused: a million tokens are about 4 MB. */
const maxRecordBytes = 2 ** 24;

/**
 * Opens a data file and checks every record in it, so that a bad one is found before a long run and not in its middle.
 * The file is JSONL, or JSON with one array; either may be packed with gzip. Packed files are unpacked to a temporary
 * one on disk.
 *
 * @throws {Error} One line that names the file, the line and what was expected.
 */
export async function openChatFile(path: string, options: OpenChatFileOptions = {}): Promise<ChatFile> {
  const file = await openUnpacked(path);
  const places: RecordPlaces = { starts: [], lengths: [], lines: [] };
  const bad = createSkipTally();
  try {
    for await (const record of splitFile(file, path)) {
      try {
        parseRecord(record.bytes, record.length);
        places.starts.push(record.start);
        places.lengths.push(record.length);
        places.lines.push(record.line);
      } catch (error) {
        const place = `${path}:${record.line}`;
        if (options.onBad !== "skip") throw new Error(`${place}: ${oneLine(error)}`, { cause: error });
        bad.add(oneLine(error), place);
      }
    }
    if (places.starts.length === 0)
      throw new Error(`${path}: holds no records, expected JSONL or a JSON array of them`);
  } catch (error) {
    await file.close();
    throw error;
  }
  const place = (row: number): string => `${path}:${places.lines[row]!}`;
  return {
    path,
    length: places.starts.length,
    bad: bad.reasons(),
    place,
    async read(row) {
      const bytes = Buffer.alloc(places.lengths[row]!);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, places.starts[row]);
      try {
        return parseRecord(bytes.subarray(0, bytesRead), bytesRead);
      } catch (error) {
        throw new Error(`${place(row)}: ${oneLine(error)}; the file has changed since it was opened`, { cause: error });
      }
    },
    close: () => file.close(),
  };
}

/** Where the records are, as columns: a file may hold a hundred million. */
interface RecordPlaces {
  readonly starts: number[];
  readonly lengths: number[];
  readonly lines: number[];
}

async function* splitFile(file: FileHandle, path: string): AsyncGenerator<RawRecord> {
  const head = Buffer.alloc(4096);
  const { bytesRead } = await file.read(head, 0, head.length, 0);
  const offset = head.readUIntBE(0, 3) === 0xefbbbf ? 3 : 0;
  const isArray = head.toString("latin1", offset, bytesRead).trimStart().startsWith("[");
  const chunks: AsyncIterable<Buffer> = file.createReadStream({ start: offset, autoClose: false });
  try {
    for await (const record of (isArray ? splitJsonArray : splitLines)(chunks, maxRecordBytes)) {
      yield { ...record, start: record.start + offset };
    }
  } catch (error) {
    throw new Error(`${path}: ${oneLine(error)}`, { cause: error });
  }
}

function parseRecord(bytes: Buffer | undefined, length: number): ChatRecord {
  if (bytes === undefined) throw new Error(`a record of ${length} bytes, expected at most ${maxRecordBytes}`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Error("not text in UTF-8", { cause: error });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`not JSON (${oneLine(error)})`, { cause: error });
  }
  return parseChatRecord(value);
}

async function openUnpacked(path: string): Promise<FileHandle> {
  const file = await openFile(path);
  const magic = Buffer.alloc(2);
  await file.read(magic, 0, 2, 0);
  if (magic.readUInt16BE() !== 0x1f8b) return file;
  await file.close();
  const folder = await mkdtemp(join(tmpdir(), "chat-data-")).catch((error: unknown) => {
    throw new Error(`${path}: can't be unpacked to ${tmpdir()} (${oneLine(error)}); set TMPDIR to a folder with room`, {
      cause: error,
    });
  });
  const unpackedPath = join(folder, "unpacked");
  const unpacked = await open(unpackedPath, "w+");
  // Nothing is left behind, however the program ends: the open file needs no name.
  await rm(unpackedPath);
  await rmdir(folder);
  try {
    await pipeline(createReadStream(path), createGunzip(), (chunks) => writeFile(unpacked, chunks));
  } catch (error) {
    await unpacked.close();
    throw new Error(`${path}: the gzip data can't be unpacked (${oneLine(error)})`, { cause: error });
  }
  return unpacked;
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    // Asked first: a pipe's opening would wait for whoever writes into it.
    if ((await stat(path)).isFile()) return await open(path);
  } catch (error) {
    throw new Error(`${path}: cannot be opened (${oneLine(error)}), expected a data file`, { cause: error });
  }
  throw new Error(`${path}: not a regular file, expected a data file`);
}
