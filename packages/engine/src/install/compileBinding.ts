import { existsSync, realpathSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { bindingPrelude } from "./bindingPrelude.ts";
import type { Libtensorflow } from "./findLibtensorflow.ts";
import { runCommand } from "./runCommand.ts";

export interface CompileBindingOptions {
  /** Folder of the package with the binding's sources. */
  readonly packageFolder: string;
  readonly library: Libtensorflow;
  /** Folder with `node_api.h`; looked for unless given. */
  readonly nodeHeaders?: string;
  /** The file to make. */
  readonly output: string;
}

/** Compiles the binding against a TensorFlow library, which it then finds where it is now. Takes half a minute. */
export async function compileBinding({
  packageFolder,
  library,
  nodeHeaders,
  output,
}: CompileBindingOptions): Promise<void> {
  const compiler = await findCompiler();
  const includes = [library.include, findNodeHeaders(nodeHeaders, packageFolder)].map((folder) => `-I${folder}`);
  const prelude = `${output}.h`;
  const defines = ["-DNAPI_VERSION=8", `-DTENSORFLOW=${JSON.stringify(library.main)}`];
  // So that loops of our ops become vector instructions.
  const loops = ["-O3", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math"];
  const flags = [...loops, "-shared", "-fPIC", "-std=c++17", ...defines, ...includes, "-include", prelude];
  const sources = ["tfjs_backend.cc", "tfjs_binding.cc"];
  const link = ["-ldl", "-Wl,-z,lazy", "-o", output];
  try {
    await writeFile(prelude, bindingPrelude);
    await runCommand(compiler, [...flags, ...sources, ...link], { cwd: join(packageFolder, "binding") });
  } finally {
    await rm(prelude, { force: true });
  }
}

async function findCompiler(): Promise<string> {
  const candidates = process.env["CXX"] === undefined ? ["g++", "clang++"] : [process.env["CXX"]];
  for (const candidate of candidates) {
    const works = await runCommand(candidate, ["--version"]).then(
      () => true,
      () => false,
    );
    if (works) return candidate;
  }
  throw new Error(`no C++ compiler: tried ${candidates.join(" and ")}; install g++, or name one in CXX`);
}

/** The folder with Node's C headers: beside Node itself, in node-gyp's cache, or in the package `node-api-headers`. */
export function findNodeHeaders(given: string | undefined, packageFolder: string): string {
  const candidates =
    given === undefined
      ? [
          join(dirname(realpathSync(process.execPath)), "../include/node"),
          join(homedir(), ".cache/node-gyp", process.versions.node, "include/node"),
          ...headersPackage(packageFolder),
        ]
      : [given, join(given, "include/node")];
  const found = candidates.find((folder) => existsSync(join(folder, "node_api.h")));
  if (found !== undefined) return found;
  throw new Error(
    `no Node headers: node_api.h is not in ${candidates.join(", ")}; pnpm add node-api-headers, or name their folder`,
  );
}

function headersPackage(packageFolder: string): string[] {
  // Linked where the app declares it, which is also where it declares the binding's package.
  for (const from of [join(process.cwd(), "package.json"), join(packageFolder, "package.json"), import.meta.filename]) {
    try {
      return [join(dirname(createRequire(from).resolve("node-api-headers/package.json")), "include")];
    } catch {
      // Not linked from there.
    }
  }
  return [];
}
