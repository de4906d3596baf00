import { randomBytes } from "node:crypto";
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { oneLine } from "./oneLine.ts";

/**
 * Replaces a file as a whole: `write` fills a temporary file in the same folder, which is synchronised, then renamed. An
 * interrupted write leaves whatever stood there before.
 *
 * @throws {Error} One line that names the file; the temporary one is gone then.
 */
export async function writeAtomically(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const file = await open(temporary, "wx");
    try {
      await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new Error(`${path}: cannot be written (${oneLine(error)}); what stood there before is untouched`, {
      cause: error,
    });
  }
  await syncFolder(folder);
}

/** Makes the rename itself durable. */
async function syncFolder(folder: string): Promise<void> {
  // Windows can't open folders.
  if (process.platform === "win32") return;
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
