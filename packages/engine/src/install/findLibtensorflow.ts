import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { partialName, removeAbandoned } from "./partialFiles.ts";
import { runCommand } from "./runCommand.ts";
import { unpackWheel } from "./unpackWheel.ts";

/** Where TensorFlow's library comes from. */
export type TensorflowSource =
  /** A wheel that pip downloads by its own configuration, such as `tensorflow-cpu==2.21.0`. */
  | { readonly pip: string; readonly python?: string }
  /** The TensorFlow installed for a Python interpreter; the way to a GPU. */
  | { readonly python: string }
  /** A wheel file; needs no network and no Python. */
  | { readonly wheel: string }
  /** A folder with the library: TensorFlow's C package, or a Python package `tensorflow`. */
  | { readonly libtensorflow: string };

/** The library on disk. */
export interface Libtensorflow {
  readonly include: string;
  /** The shared library with the C API; TensorFlow's other one lies beside it. */
  readonly main: string;
}

export interface FindLibtensorflowOptions {
  /** Folder where wheels are unpacked, once each; `dflash/tensorflow` in the user's cache folder unless given. */
  readonly cache?: string;
  readonly onProgress: (line: string) => void;
}

/** Finds the library, downloading and unpacking where that is asked for. Throws one line with the way out. */
export async function findLibtensorflow(
  source: TensorflowSource,
  { cache = userCache(), onProgress }: FindLibtensorflowOptions,
): Promise<Libtensorflow> {
  if ("libtensorflow" in source) return librariesIn(resolve(source.libtensorflow));
  if ("wheel" in source) return unpacked(resolve(source.wheel), cache, onProgress);
  if ("pip" in source) return downloaded(source.pip, source.python ?? "python3", cache, onProgress);
  return librariesIn(await pythonPackage(source.python));
}

function userCache(): string {
  return join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "dflash/tensorflow");
}

const sharedLibrary = /^libtensorflow(?:_cc)?\.so\.2$/;

/** The libraries of a folder in either layout: C package (`lib`, `include`) or Python package. */
async function librariesIn(folder: string): Promise<Libtensorflow> {
  for (const lib of [folder, join(folder, "lib"), join(folder, "tensorflow")]) {
    const main = (existsSync(lib) ? await readdir(lib) : []).find((name) => sharedLibrary.test(name));
    const include = [join(lib, "include"), join(folder, "include")].find((path) =>
      existsSync(join(path, "tensorflow/c/c_api.h")),
    );
    if (main === undefined || include === undefined) continue;
    return { include, main: join(lib, main) };
  }
  throw new Error(
    `${folder}: holds no TensorFlow library with headers: expected libtensorflow.so.2 or libtensorflow_cc.so.2, and ` +
      `include/tensorflow/c/c_api.h`,
  );
}

async function pythonPackage(python: string): Promise<string> {
  const find =
    "import importlib.util as u; s = u.find_spec('tensorflow'); print(s.submodule_search_locations[0] if s else '')";
  const folder = (await runCommand(python, ["-c", find])).trim();
  if (folder === "") throw new Error(`${python}: has no TensorFlow; install it there, or let pip download a wheel`);
  return folder;
}

async function downloaded(
  requirement: string,
  python: string,
  cache: string,
  onProgress: (line: string) => void,
): Promise<Libtensorflow> {
  const folder = await partialFolder(cache);
  try {
    onProgress(`downloading ${requirement} with pip`);
    const pip = ["-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--dest", folder, requirement];
    await runCommand(python, pip, { onLine: onProgress }).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`pip can't download ${requirement} (${reason}); give a wheel file, or another Python or index`);
    });
    const [wheel] = (await readdir(folder)).filter((name) => name.endsWith(".whl"));
    if (wheel === undefined) throw new Error(`pip downloaded no wheel of ${requirement}`);
    return await unpacked(join(folder, wheel), cache, onProgress);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What the binding is built from: the libraries and the headers of the C API. */
const wanted = (name: string): boolean =>
  /^tensorflow\/libtensorflow(_cc|_framework)?\.so\.2$/.test(name) ||
  (name.startsWith("tensorflow/include/") && /\/(c|platform)\/.*\.h$/.test(name));

async function unpacked(wheel: string, cache: string, onProgress: (line: string) => void): Promise<Libtensorflow> {
  const folder = join(cache, basename(wheel, ".whl"));
  if (!existsSync(folder)) {
    onProgress(`unpacking ${basename(wheel)}`);
    const partial = await partialFolder(cache);
    try {
      await unpackWheel(wheel, partial, wanted);
      await librariesIn(partial);
      await rename(partial, folder);
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  }
  return librariesIn(folder);
}

/** A new folder in the cache, for what is not whole yet. */
async function partialFolder(cache: string): Promise<string> {
  await mkdir(cache, { recursive: true });
  await removeAbandoned(cache);
  return mkdtemp(join(cache, `${partialName()}-`));
}
