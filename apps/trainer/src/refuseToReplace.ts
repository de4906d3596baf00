import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { forCaller } from "./callerFolder.ts";

/**
 * Keeps a command from writing over what isn't its own.
 * @param flag Names the place for the user.
 * @param beginning What all files that the command writes begin with: one of them may be replaced; without it none may.
 * @throws {Error} One line where a folder, or another file with something in it, is there.
 */
export function refuseToReplace(flag: string, path: string, beginning?: string): void {
  const found = existsSync(path) ? statSync(path) : undefined;
  if (found?.isDirectory()) throw new Error(`${flag} ${forCaller(path)}: is a folder; give a file`);
  if (!found?.isFile() || found.size === 0) return;
  if (beginning === undefined)
    throw new Error(`${flag} ${forCaller(path)}: is there already; remove it, or choose another file`);
  if (startOf(path, Buffer.byteLength(beginning)) !== beginning)
    throw new Error(`${flag} ${forCaller(path)}: is there and wasn't written by this command; choose another file`);
}

function startOf(path: string, bytes: number): string {
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(bytes);
    return start.toString("utf8", 0, readSync(file, start));
  } finally {
    closeSync(file);
  }
}
