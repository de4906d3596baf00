import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { LogSink } from "../logSink.ts";

/**
 * Appends to a file, its folder made if missing. Each chunk is handed to the system before `write` returns: after a SIGKILL
 * everything but the chunk being written is on disk. A line torn that way is ended before the first new one.
 */
export function fileSink(path: string): LogSink {
  mkdirSync(dirname(path), { recursive: true });
  let fd: number | undefined = openSync(path, "a+");
  let torn = endsInALine(fd) ? "" : "\n";
  return {
    name: path,
    write(chunk) {
      if (fd === undefined) throw new Error(`${path} is closed`);
      const bytes = typeof chunk === "string" ? Buffer.from(torn + chunk) : chunk;
      torn = "";
      let written = 0;
      while (written < bytes.length) written += writeSync(fd, bytes, written);
    },
    close() {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}

function endsInALine(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return true;
  const last = new Uint8Array(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] === 10;
}
