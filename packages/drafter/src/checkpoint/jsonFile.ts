import { readFile } from "node:fs/promises";
import { writeAtomically } from "@dflash/safetensors";

/** Writes a value as indented JSON, atomically: an interrupted write leaves whatever stood there before. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  await writeAtomically(path, async (file) => file.writeFile(`${JSON.stringify(value, null, 2)}\n`));
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
  return (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ");
}
