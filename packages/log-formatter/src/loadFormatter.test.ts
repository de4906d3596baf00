import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "tsdown";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtInFormatters, loadFormatter } from "./loadFormatter.ts";
import { stepOf } from "./record.test-support.ts";

const cwd = mkdtempSync(join(tmpdir(), "formatters-"));
const plugin = (text: string): string => `export default () => ({ step: ({ step }) => "${text} " + step });`;

function file(path: string, text: string): void {
  mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(join(cwd, path), text);
}

beforeAll(() => {
  file("mine.mjs", plugin("file"));
  file("sub/mine.mjs", plugin("file below"));
  file("broken.mjs", "export default (");
  file("named.mjs", "export const step = () => '';");
  file("old.cjs", "module.exports = () => ({ step: ({ step }) => 'cjs ' + step });");
  file("node_modules/plain/package.json", '{ "type": "module", "main": "main.js" }');
  file("node_modules/plain/main.js", plugin("package"));
  file(
    "node_modules/@scope/esm/package.json",
    '{ "type": "module", "exports": { ".": { "types": "./x.d.ts", "import": "./lib/index.js" }, "./wide": { "node": { "import": "./wide.js" } } } }',
  );
  file("node_modules/@scope/esm/lib/index.js", plugin("import only"));
  file("node_modules/@scope/esm/wide.js", plugin("subpath"));
  file("node_modules/string/package.json", '{ "type": "module", "exports": "./index.js" }');
  file("node_modules/string/index.js", plugin("exports string"));
});
afterAll(() => rmSync(cwd, { recursive: true }));

test.each(Object.keys(builtInFormatters))("%s is built in", async (name) => {
  expect(await loadFormatter(name)).toBe(builtInFormatters[name]);
});

test.each([
  ["./mine.mjs", "file 3"],
  ["mine.mjs", "file 3"],
  ["sub/mine.mjs", "file below 3"],
  [join(cwd, "mine.mjs"), "file 3"],
  ["./old.cjs", "cjs 3"],
  ["plain", "package 3"],
  ["string", "exports string 3"],
  ["@scope/esm", "import only 3"],
  ["@scope/esm/wide", "subpath 3"],
])("%s is found from the user's folder", async (name, expected) => {
  const factory = await loadFormatter(name, { cwd });
  expect(factory({ color: false, columns: null }).step(stepOf(3))).toBe(expected);
});

test.each([
  [
    "nonsense",
    /^log format nonsense: neither a built-in format \(chrome, logfmt, ndjson, pretty, prometheus, tensorboard, tsv\), nor a file, nor a package installed in /,
  ],
  ["constructor", /^log format constructor: neither a built-in format/],
  ["./none.mjs", /^log format \.\/none\.mjs: there is no file .*none\.mjs$/],
  ["./broken.mjs", /^log format \.\/broken\.mjs: .*broken\.mjs does not load: /],
  [
    "./named.mjs",
    /^log format \.\/named\.mjs: .* has no default export that makes a formatter; write "export default \(\) => /,
  ],
  ["@scope/esm/none", /^log format @scope\/esm\/none: neither/],
])("%s is refused in one line", async (name, message) => {
  const error = await loadFormatter(name, { cwd }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  expect((error as Error).message).toMatch(message);
  expect((error as Error).message).not.toContain("\n");
});

test("a TypeScript file is loaded by a Node that runs it, else refused with the ways out", async () => {
  // A bundle, so that plain Node runs it without the loader of these tests.
  await build({
    config: false,
    logLevel: "silent",
    entry: { loader: join(import.meta.dirname, "loadFormatter.ts") },
    outDir: cwd,
    dts: false,
    clean: false,
    fixedExtension: false,
  });
  file("typed.ts", `const step: number = 3; ${plugin("typed")} export { step };`);
  file(
    "run.mjs",
    `import { loadFormatter } from "./loader.js";
    const text = await loadFormatter("./typed.ts", { cwd: ${JSON.stringify(cwd)} }).then((factory) => factory({}).step({ step: 3 }), ({ message }) => message);
    process.stdout.write(text);`,
  );
  const text = execFileSync(process.execPath, [join(cwd, "run.mjs")], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const runsTypeScript = "typescript" in process.features && Boolean(process.features.typescript);
  expect(text).toBe(
    runsTypeScript
      ? "typed 3"
      : `log format ./typed.ts: Node ${process.version} cannot run TypeScript; use Node 22.18 or newer, start it with "node --import tsx", or write the formatter in JavaScript`,
  );
});
