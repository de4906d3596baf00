import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { LogChunk, LogForm } from "../logFormatter.ts";
import type { LogSink } from "../logSink.ts";

/** How a file is kept. */
export interface FileSinkOptions {
  /** A file that would grow past this is renamed to `path.1`, the next one to `path.2`, and so on; nothing is deleted. */
  maxBytes?: number;
}

/**
 * Appends to a file, its folder made if missing. Each chunk is with the system before `write` returns: after a SIGKILL
 * everything but the chunk being written is on disk. A line torn that way is ended before the first new one. A document that
 * finds the file in use begins the next free one of `path.1`, `path.2`, …; pages replace the file as a whole.
 */
export function fileSink(path: string, { maxBytes = Infinity }: FileSinkOptions = {}): LogSink {
  mkdirSync(dirname(path), { recursive: true });
  let file = path;
  let fd: number | undefined = openSync(path, "a+");
  let size = fstatSync(fd).size;
  let form: LogForm = "lines";
  let torn = !endsInALine(fd, size);
  let preamble: (() => LogChunk) | undefined;

  const append = (bytes: Uint8Array): void => {
    if (fd === undefined) throw new Error(`${file} is closed`);
    let written = 0;
    while (written < bytes.length) written += writeSync(fd, bytes, written);
    size += written;
  };
  const close = (): void => {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
  };
  const begin = (next: string): void => {
    close();
    file = next;
    fd = openSync(file, "a+");
    size = 0;
  };

  return {
    name: path,
    open(given, givenPreamble) {
      form = given;
      preamble = givenPreamble;
      if (form === "page") close();
      else if (form === "document" && size > 0) begin(nextFree(path));
      if (form !== "lines") torn = false;
    },
    write(chunk, kind) {
      if (form === "page") {
        writeFileSync(`${path}.tmp`, chunk);
        renameSync(`${path}.tmp`, path);
        return;
      }
      const bytes = toBytes(chunk);
      if (size > 0 && size + bytes.length > maxBytes) {
        close();
        renameSync(file, nextFree(path));
        begin(file);
        torn = false;
        if (kind !== "header") append(toBytes(preamble?.() ?? ""));
      }
      if (torn) append(toBytes("\n"));
      torn = false;
      append(bytes);
    },
    close,
  };
}

function toBytes(chunk: LogChunk): Uint8Array {
  return typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}

function nextFree(path: string): string {
  let number = 1;
  while (existsSync(`${path}.${number}`)) number++;
  return `${path}.${number}`;
}

function endsInALine(fd: number, size: number): boolean {
  if (size === 0) return true;
  const last = new Uint8Array(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] === 10;
}
