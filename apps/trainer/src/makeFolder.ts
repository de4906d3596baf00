import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { forCaller } from "./callerFolder.ts";

const reasons: Readonly<Record<string, string>> = {
  EEXIST: "a file is in the way",
  ENOTDIR: "a file is in the way",
  ENOENT: "there can be no folder there",
  EACCES: "you may not write there",
  EPERM: "you may not write there",
  EROFS: "the disk can't be written to",
  ENOSPC: "the disk is full",
};

/** Makes the folder that a flag names, and those above it. Throws one line that names the flag where it can't be had. */
export async function makeFolder(flag: string, path: string): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new Error(`${flag} ${forCaller(path)}: ${reasons[code] ?? String(error)}; choose another place`, {
      cause: error,
    });
  }
}

/** Node's own recursion never ends where a folder is that takes no others, such as /proc. */
async function make(path: string): Promise<void> {
  if ((await stat(path).catch(() => null))?.isDirectory()) return;
  if (dirname(path) !== path) await make(dirname(path));
  await mkdir(path);
}
