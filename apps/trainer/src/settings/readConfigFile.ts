import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { forCaller } from "../callerFolder.ts";
import type { Given, GivenValue } from "./given.ts";

/** Bytes of the largest file that is read; a config has a few thousand. */
const largest = 2 ** 20;

/** What a YAML or JSON file gives. Throws one line that names the place of what is no YAML. */
export function readConfigFile(path: string): Given {
  const shown = forCaller(path);
  const text = readText(path, shown);
  const lines = new LineCounter();
  const document = parse(text, lines, shown);
  const place = (offset: number | undefined): string => `${shown}:${lines.linePos(offset ?? 0).line}`;
  const [problem] = document.errors;
  if (problem) throw new Error(`${place(problem.pos[0])}: ${inWords(problem.message)}`);
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return new Map();
  if (!isMap(contents)) throw new Error(`${shown}: expected settings, such as "steps: 300", one a line`);

  const given = new Map<string, GivenValue>();
  for (const { key, value } of contents.items) {
    const name = isScalar(key) ? String(key.value) : String(key);
    const at = isScalar(key) ? key.range?.[0] : undefined;
    // For the editor that completes names.
    if (name === "$schema") continue;
    given.set(name, { value: toValue(value, place(at)), place: `${place(at)}: ${name}`, folder: dirname(path) });
  }
  return given;

  function toValue(node: unknown, at: string): unknown {
    if (node === null || typeof node !== "object" || !("toJS" in node) || typeof node.toJS !== "function") return node;
    try {
      const value: unknown = node.toJS(document);
      // An alias may stand inside what it names.
      JSON.stringify(value);
      return value;
    } catch (error) {
      const reason = error instanceof Error ? error.message.split("\n", 1)[0]! : String(error);
      throw new Error(`${at}: ${reason.includes("circular") ? "holds itself by an alias" : reason}`, { cause: error });
    }
  }
}

/** The parser's complaint in one line; it recurses into what is nested. */
const inWords = (message: string): string =>
  message.includes("call stack") ? "nested too deeply for a config" : message.split("\n", 1)[0]!;

function readText(path: string, shown: string): string {
  try {
    const found = statSync(path);
    // Reading a pipe would wait for whoever writes to it.
    if (!found.isFile() && !found.isDirectory()) throw new Error("is no file; save the settings in one");
    const { size } = found;
    if (size > largest) throw new Error(`has ${size} bytes, expected a config of at most ${largest}`);
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    throw new Error(`--config ${shown}: ${reasonOf(error)}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "no such file; give a YAML or JSON file of settings";
  if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return "is not UTF-8; save it as UTF-8";
  if (code === "EISDIR") return "is a folder; give a YAML or JSON file of settings";
  return error instanceof Error ? error.message : String(error);
}

function parse(text: string, lineCounter: LineCounter, shown: string): ReturnType<typeof parseDocument> {
  try {
    return parseDocument(text, { lineCounter, prettyErrors: false });
  } catch (error) {
    // Nested so deeply that the parser's recursion ends.
    throw new Error(
      `${shown}: can't be read as YAML (${inWords(error instanceof Error ? error.message : String(error))})`,
      {
        cause: error,
      },
    );
  }
}
