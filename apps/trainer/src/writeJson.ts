import { renameSync, writeFileSync } from "node:fs";

/** Writes a value as indented JSON; a process killed meanwhile leaves what stood there before. */
export function writeJson(path: string, value: unknown): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`);
  renameSync(temporary, path);
}
