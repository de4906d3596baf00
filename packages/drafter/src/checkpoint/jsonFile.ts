import { randomBytes } from "node:crypto";
import { open, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Writes a value as indented JSON, atomically: an interrupted write leaves whatever stood there before. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const file = await open(temporary, "wx");
    try {
      await file.writeFile(`${JSON.stringify(value, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new Error(`${path}: cannot be written (${reason(error)}); what stood there before is untouched`, {
      cause: error,
    });
  }
}

/**
 * Reads a JSON file.
 *
 * @param content What it should be, for the error.
 * @throws {Error} One line that names the file.
 */
export async function readJson(path: string, content: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new Error(`${path}: cannot be read (${reason(error)}); expected ${content}`, { cause: error });
  });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path}: not JSON (${reason(error)})`, { cause: error });
  }
}

/** An error's text in one line. */
export function reason(error: unknown): string {
  return String(error).replace(/\s+/g, " ");
}
