import { renameSync, rmSync, writeFileSync } from "node:fs";
import { forCaller } from "./callerFolder.ts";

/**
 * Writes a value as indented JSON. A process killed meanwhile leaves what stood there before.
 * @throws {Error} One line that names the file.
 */
export function writeJson(path: string, value: unknown): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${forCaller(path)}: cannot be written (${reason})`, { cause: error });
  }
}
