/** One record of a file, still as bytes. */
export interface RawRecord {
  /** Position of its first byte. */
  readonly start: number;
  readonly length: number;
  /** Line of its first byte, from 1. */
  readonly line: number;
  /** Undefined when it is longer than allowed. */
  readonly bytes: Buffer | undefined;
}

const [newline, quote, comma, backslash] = [0x0a, 0x22, 0x2c, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Splits a JSONL file at its newlines. Memory is bounded by `maxBytes` and the chunks' size, whatever the file holds.
 *
 * @yields {RawRecord} Each line that isn't blank, without its newline.
 */
export async function* splitLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<RawRecord> {
  const record = collect(maxBytes);
  let line = 1;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      record.add(chunk.subarray(from, at));
      const taken = record.take(line++, 1);
      if (taken !== undefined) yield taken;
      from = at + 1;
    }
    record.add(chunk.subarray(from));
  }
  const last = record.take(line, 0);
  if (last !== undefined) yield last;
}

/**
 * Splits a file that holds one JSON array into the array's elements. What stands inside an element isn't looked at
 * beyond its brackets and strings. Memory is bounded as in {@link splitLines}.
 *
 * @yields {RawRecord} Each element, with the spaces around it.
 * @throws {Error} Where the file is not one array: `line N: what is wrong`.
 */
export async function* splitJsonArray(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<RawRecord> {
  const record = collect(maxBytes);
  let line = 1;
  let recordLine = 1;
  let elements = 0;
  let depth = 0;
  let closed = false;
  let inString = false;
  let escaped = false;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (byte === newline) line++;
      if (closed) {
        if (!isSpace(byte)) throw new Error(`line ${line}: text behind the end of the array, expected none`);
      } else if (inString) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) inString = false;
      } else if (byte === quote) {
        inString = true;
      } else if (byte === openBracket || byte === openBrace) {
        depth++;
        if (depth > 1) continue;
        record.add(chunk.subarray(from, at));
        record.drop(1);
        from = at + 1;
        recordLine = line;
      } else if (byte === closeBracket || byte === closeBrace || byte === comma) {
        if (byte !== comma) depth--;
        if (depth > 1 || (depth === 1 && byte !== comma)) continue;
        closed = depth === 0;
        record.add(chunk.subarray(from, at));
        const element = record.take(recordLine, 1);
        if (element !== undefined) yield element;
        else if (!closed || elements > 0)
          throw new Error(`line ${line}: nothing before a comma or the end of the array`);
        elements++;
        from = at + 1;
        recordLine = line;
      }
    }
    record.add(chunk.subarray(from));
  }
  if (!closed) throw new Error(`line ${recordLine}: the file ends inside the array or the record that begins here`);
}

/** Puts the pieces of a record together and keeps count of where it starts. */
interface Collector {
  add(piece: Buffer): void;
  /** Leaves out what was added, and a separator. */
  drop(separatorBytes: number): void;
  /** What was added since the last separator, unless it is all spaces. */
  take(line: number, separatorBytes: number): RawRecord | undefined;
}

function collect(maxBytes: number): Collector {
  let start = 0;
  let length = 0;
  let pieces: Buffer[] = [];
  const drop = (separatorBytes: number): void => {
    start += length + separatorBytes;
    length = 0;
    pieces = [];
  };
  return {
    add(piece) {
      length += piece.length;
      if (length <= maxBytes) pieces.push(piece);
      else pieces = [];
    },
    drop,
    take(line, separatorBytes) {
      const bytes = length <= maxBytes ? Buffer.concat(pieces) : undefined;
      const indent = bytes?.findIndex((byte) => !isSpace(byte)) ?? 0;
      const blankLines = bytes?.subarray(0, indent).filter((byte) => byte === newline).length ?? 0;
      const record = indent < 0 ? undefined : { start, length, line: line + blankLines, bytes };
      drop(separatorBytes);
      return record;
    },
  };
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
