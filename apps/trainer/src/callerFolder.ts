import { relative, resolve } from "node:path";

/** The folder that the user called from, which relative paths mean; a package manager may run scripts elsewhere. */
export const callerFolder: string = process.env["INIT_CWD"] ?? process.cwd();

/** A path as the caller meant it. */
export const fromCaller = (path: string): string => resolve(callerFolder, path);

/** A path as the caller would write it. */
export function forCaller(path: string): string {
  const fromHere = relative(callerFolder, path);
  return fromHere.startsWith("..") ? path : fromHere || ".";
}
