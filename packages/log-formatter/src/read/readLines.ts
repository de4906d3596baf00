import { open, stat, type FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const newline = 10;
/** Editors on Windows begin files with it. */
const byteOrderMark = "\ufeff";
const chunkBytes = 1 << 16;
/** No record comes near; a file without line ends must not be read into memory as one line. */
const longestLine = 64 << 20;
const pollMs = 100;

/** A line of a file, without its end. */
export interface Line {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

/** Waits for more when the file ends. */
export interface Follow {
  /** Ends the following. */
  readonly signal: AbortSignal;
}

/**
 * Reads a file line by line. With `follow` it waits at the end for what is still being written, through a truncation or a file
 * moved away and begun again, until the signal aborts.
 * @yields Its lines, the last one also without its end.
 */
export async function* readLines(path: string, follow?: Follow): AsyncGenerator<Line> {
  let number = 0;
  for (;;) {
    const file = await open(path);
    try {
      for await (const text of linesOf(file, path, follow)) {
        number++;
        yield { text: number === 1 && text.startsWith(byteOrderMark) ? text.slice(1) : text, number };
      }
    } finally {
      await file.close();
    }
    if (follow === undefined || follow.signal.aborted) return;
  }
}

/**
 * Reads an open file to its end, with `follow` until another file has taken its place.
 * @yields Its lines.
 */
async function* linesOf(file: FileHandle, path: string, follow: Follow | undefined): AsyncGenerator<string> {
  const chunk = new Uint8Array(chunkBytes);
  let position = 0;
  let parts: Uint8Array[] = [];
  let waiting = 0;
  let isOver = false;
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, position);
    position += bytesRead;
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0 && end < bytesRead; end = chunk.indexOf(newline, from)) {
      yield decode([...parts, chunk.subarray(from, end)]);
      parts = [];
      waiting = 0;
      from = end + 1;
    }
    if (from < bytesRead) parts.push(chunk.slice(from, bytesRead));
    waiting += bytesRead - from;
    if (waiting > longestLine) throw new Error(`${path}: a line of more than ${longestLine} bytes: this is no log`);
    if (bytesRead > 0) continue;
    if (isOver || follow === undefined || follow.signal.aborted) break;
    isOver = await isReplaced(file, path, position);
    // Its writer may have come to its last line since it was read.
    if (isOver) continue;
    await sleep(pollMs, undefined, { signal: follow.signal }).catch(() => undefined);
  }
  if (parts.length > 0) yield decode(parts);
}

function decode(parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts).toString();
}

async function isReplaced(file: FileHandle, path: string, position: number): Promise<boolean> {
  const { ino, size } = await file.stat();
  if (size < position) return true;
  // Between being moved away and begun again there is no such file.
  const now = await stat(path).catch(() => undefined);
  return now !== undefined && now.ino !== ino;
}
