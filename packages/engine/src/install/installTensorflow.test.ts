import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { findNodeHeaders } from "./compileBinding.ts";
import { installTensorflow } from "./installTensorflow.ts";

let app: string;
let packageFolder: string;
beforeEach(() => {
  app = mkdtempSync(join(tmpdir(), "install-"));
  packageFolder = join(app, "node_modules/@tensorflow/tfjs-node-gpu");
  mkdirSync(join(packageFolder, "binding"), { recursive: true });
  writeFileSync(join(packageFolder, "package.json"), '{ "main": "index.js" }');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(app, { recursive: true });
});

const install = (options: Omit<Parameters<typeof installTensorflow>[0], "resolveFrom">) =>
  installTensorflow({ resolveFrom: app, cache: join(app, "cache"), ...options });

test("a source without TensorFlow is one line that says what was expected", async () => {
  await expect(install({ from: { libtensorflow: app } })).rejects.toThrow(
    `${app}: holds no TensorFlow library with headers: expected libtensorflow.so.2 or libtensorflow_cc.so.2`,
  );
  const wheel = join(app, "nothing.whl");
  await expect(install({ from: { wheel } })).rejects.toThrow(`${wheel}: can't be read`);
  expect(readdirSync(join(app, "cache"))).toEqual([]);
  await expect(install({ from: { python: join(app, "python") } })).rejects.toThrow(
    `${join(app, "python")} does not start`,
  );
});

test("Node's headers are found, or the places that were looked at are named", () => {
  expect(
    existsSync(join(findNodeHeaders(undefined, join(import.meta.dirname, "../../../../apps/trainer")), "node_api.h")),
  ).toBe(true);
  expect(() => findNodeHeaders(app, app)).toThrow(
    `no Node headers: node_api.h is not in ${app}, ${app}/include/node; pnpm add node-api-headers, or name their folder`,
  );
});

/** A shared library of one function. */
const buildLibrary = (name: string): void => {
  const source = join(app, `${name}.cc`);
  writeFileSync(source, `extern "C" int ${name}() { return 42; }`);
  const built = spawnSync("g++", [
    "-shared",
    "-fPIC",
    `-Wl,-soname,lib${name}.so.2`,
    "-o",
    join(app, `lib/lib${name}.so.2`),
    source,
  ]);
  expect(built.status).toBe(0);
};

/** A library and a package of the same form as TensorFlow's, but small. `binding` is its second source. */
function prepare(binding: string): string {
  mkdirSync(join(app, "lib"), { recursive: true });
  mkdirSync(join(app, "include/tensorflow/c"), { recursive: true });
  buildLibrary("tensorflow");
  buildLibrary("tensorflow_framework");
  writeFileSync(join(app, "include/tensorflow/c/c_api.h"), 'extern "C" int tensorflow();');
  writeFileSync(
    join(packageFolder, "binding/tfjs_backend.cc"),
    '#include "tensorflow/c/c_api.h"\nint answer() { return tensorflow(); }',
  );
  writeFileSync(join(packageFolder, "binding/tfjs_binding.cc"), binding);
  mkdirSync(join(packageFolder, "lib/napi-v8"), { recursive: true });
  const former = join(packageFolder, "lib/napi-v8/tfjs_binding.node");
  writeFileSync(former, "the former binding");
  return former;
}

const hasCompiler = spawnSync("g++", ["--version"]).status === 0;

describe.skipIf(!hasCompiler)(`with a compiler${hasCompiler ? "" : " (skipped: no g++ here)"}`, () => {
  test("source that does not compile is one line, and the former binding stays", async () => {
    const former = prepare("int broken( {");
    await expect(install({ from: { libtensorflow: app } })).rejects.toThrow(/^g\+\+ ended with 1: [^\n]*error[^\n]*$/u);
    expect(readFileSync(former, "utf8")).toBe("the former binding");
    expect(readdirSync(join(packageFolder, "lib/napi-v8"))).toEqual(["tfjs_binding.node"]);
  });

  test("a binding that builds and does not work makes room for the former one", async () => {
    const former = prepare("#include <node_api.h>\nint answer();\nint second() { return answer(); }");
    writeFileSync(
      join(packageFolder, "index.js"),
      `const bytes = require("fs").statSync(require("path").join(__dirname, "lib/napi-v8/tfjs_binding.node")).size;
       throw new Error("a binding of " + (bytes > 1000 ? "new" : "old") + " making");`,
    );
    await expect(install({ from: { libtensorflow: app } })).rejects.toThrow("a binding of new making");
    expect(readFileSync(former, "utf8")).toBe("the former binding");
    expect(readdirSync(join(packageFolder, "lib/napi-v8"))).toEqual(["tfjs_binding.node"]);
  });

  test("what a killed installation left is cleared away, the binding from before it comes back, and a running one keeps its files", async () => {
    const binding = prepare("int broken( {");
    const { pid: gone } = spawnSync(process.execPath, ["--version"]);
    writeFileSync(`${binding}.former`, "the working binding");
    writeFileSync(`${binding}.partial-${gone}.h`, "");
    const [left, kept] = [gone, process.ppid].map((pid) => join(app, `cache/partial-${pid}-abc`));
    for (const folder of [left!, kept!]) mkdirSync(join(folder, "tensorflow"), { recursive: true });
    await expect(install({ from: { wheel: join(app, "nothing.whl") } })).rejects.toThrow("can't be read");
    expect([left, kept].map((folder) => existsSync(folder!))).toEqual([false, true]);
    await expect(install({ from: { libtensorflow: app } })).rejects.toThrow("error");
    expect(readFileSync(binding, "utf8")).toBe("the working binding");
    expect(readdirSync(join(packageFolder, "lib/napi-v8"))).toEqual(["tfjs_binding.node"]);
  });

  test("a compiler that isn't there is named", async () => {
    prepare("");
    vi.stubEnv("CXX", "/nowhere/c++");
    await expect(install({ from: { libtensorflow: app } })).rejects.toThrow(
      "no C++ compiler: tried /nowhere/c++; install g++, or name one in CXX",
    );
  });
});
