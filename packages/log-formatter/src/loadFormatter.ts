import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { LogFormatterFactory } from "./logFormatter.ts";
import { chrome } from "./formatters/chrome.ts";
import { logfmt } from "./formatters/logfmt.ts";
import { ndjson } from "./formatters/ndjson.ts";
import { pretty } from "./formatters/pretty.ts";
import { prometheus } from "./formatters/prometheus.ts";
import { tensorboard } from "./formatters/tensorboard.ts";
import { tsv } from "./formatters/tsv.ts";

/** The formatters that have a name. */
export const builtInFormatters: Readonly<Record<string, LogFormatterFactory>> = {
  chrome,
  logfmt,
  ndjson,
  pretty,
  prometheus,
  tensorboard,
  tsv,
};

/** Where names are looked up. */
export interface LoadFormatterOptions {
  /** Folder that paths and packages are resolved from; the working folder unless given. */
  cwd?: string;
}

/** A format's name that means the same in every folder: a file by its full path, any other as it is. */
export function resolveFormat(name: string, folder: string): string {
  if (Object.hasOwn(builtInFormatters, name)) return name;
  const isFile = name.startsWith(".") || isAbsolute(name) || existsSync(join(folder, name));
  return isFile ? resolve(folder, name) : name;
}

/**
 * The formatter factory with a built-in name, or the default export of a file or of an installed package.
 * @throws Error in one line: which name, what it is not, and what would do.
 */
export async function loadFormatter(
  nameOrPathOrPackage: string,
  options: LoadFormatterOptions = {},
): Promise<LogFormatterFactory> {
  const name = nameOrPathOrPackage;
  if (Object.hasOwn(builtInFormatters, name)) return builtInFormatters[name]!;
  const file = find(name, resolve(options.cwd ?? "."));
  let module: unknown;
  try {
    module = await import(/* @vite-ignore */ pathToFileURL(file).href);
  } catch (error) {
    if (hasCode(error, "ERR_UNKNOWN_FILE_EXTENSION") && /^\.[cm]?ts$/.test(extname(file))) {
      throw new Error(
        `log format ${name}: Node ${process.version} cannot run TypeScript; use Node 22.18 or newer, start it with "node --import tsx", or write the formatter in JavaScript`,
        { cause: error },
      );
    }
    throw new Error(
      `log format ${name}: ${file} does not load: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  const factory = isRecord(module) ? module["default"] : undefined;
  if (isFactory(factory)) return factory;
  throw new Error(
    `log format ${name}: ${file} has no default export that makes a formatter; write "export default () => ({ step: (record) => ... })"`,
  );
}

function isFactory(value: unknown): value is LogFormatterFactory {
  return typeof value === "function";
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function find(name: string, cwd: string): string {
  const file = resolveFormat(name, cwd);
  if (isAbsolute(file)) {
    if (!existsSync(file)) throw new Error(`log format ${name}: there is no file ${file}`);
    return file;
  }
  const entry = findPackage(name, cwd);
  if (entry === undefined) {
    throw new Error(
      `log format ${name}: neither a built-in format (${Object.keys(builtInFormatters).join(", ")}), nor a file, nor a package installed in ${cwd}`,
    );
  }
  return entry;
}

/** Entry file of an installed package; `require.resolve` does all but packages that can only be imported. */
function findPackage(name: string, cwd: string): string | undefined {
  const require = createRequire(join(cwd, "package.json"));
  try {
    return require.resolve(name);
  } catch (error) {
    if (!hasCode(error, "ERR_PACKAGE_PATH_NOT_EXPORTED")) return undefined;
  }
  const parts = name.split("/");
  const packageName = parts.slice(0, name.startsWith("@") ? 2 : 1).join("/");
  const manifest = (require.resolve.paths(name) ?? [])
    .map((folder) => join(folder, packageName, "package.json"))
    .find(existsSync);
  if (manifest === undefined) return undefined;
  const parsed: unknown = JSON.parse(readFileSync(manifest, "utf8"));
  const exports = isRecord(parsed) ? parsed["exports"] : undefined;
  const subpath = [".", ...parts.slice(packageName.split("/").length)].join("/");
  const target = importTarget(isRecord(exports) && subpath in exports ? exports[subpath] : exports);
  return target === undefined ? undefined : join(dirname(manifest), target);
}

/** File behind the conditions `node`, `import`, `default` of an `exports` entry. */
function importTarget(entry: unknown): string | undefined {
  if (typeof entry === "string") return entry;
  if (!isRecord(entry)) return undefined;
  for (const condition of Object.keys(entry)) {
    const target = ["node", "import", "default"].includes(condition) ? importTarget(entry[condition]) : undefined;
    if (target !== undefined) return target;
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
