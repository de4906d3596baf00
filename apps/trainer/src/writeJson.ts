import { writeWhole } from "./writeWhole.ts";

/** Writes a value as indented JSON, as a whole. Throws one line that names the file. */
export function writeJson(path: string, value: unknown): void {
  writeWhole(path, `${JSON.stringify(value, null, 2)}\n`);
}
