import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { forCaller } from "./callerFolder.ts";

/**
 * Writes a file as a whole: a process killed meanwhile leaves what stood there before. What is no file on a disk, such as
 * `/dev/stdout`, is written to as it is.
 * @throws {Error} One line that names the file.
 */
export function writeWhole(path: string, text: string): void {
  const isSpecial = statSync(path, { throwIfNoEntry: false })?.isFile() === false;
  const written = isSpecial ? path : `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(written, text);
    if (!isSpecial) renameSync(written, path);
  } catch (error) {
    if (!isSpecial) rmSync(written, { force: true });
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${forCaller(path)}: cannot be written (${reason})`, { cause: error });
  }
}
