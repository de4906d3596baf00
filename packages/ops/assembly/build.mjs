// Compiles the kernels in this folder into ../src/wasm/moduleBytes.ts.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashSources } from "./hashSources.mjs";

const folder = import.meta.dirname;
const options = "-O3 --noAssert --runtime stub --importMemory --sharedMemory --initialMemory 1 --maximumMemory 65536";

function compile(features) {
  const scratch = mkdtempSync(join(tmpdir(), "kernels-"));
  const [wasm, text] = ["kernels.wasm", "kernels.wat"].map((name) => join(scratch, name));
  const args = ["--yes", "-p", "assemblyscript@0.28.20", "asc", "index.ts", ...options.split(" ")];
  const files = ["--disableWarning", "112", "--outFile", wasm, "--textFile", text];
  execFileSync("npx", [...args, "--enable", features, ...files], { cwd: folder, stdio: "inherit" });
  // Data would be written over whatever the tensor engine keeps at the bottom of its heap.
  if (readFileSync(text, "utf8").includes("(data")) throw new Error("the module has static data");
  const lines = readFileSync(wasm)
    .toString("base64")
    .match(/.{1,110}/gu);
  rmSync(scratch, { recursive: true });
  return lines.map((line) => `    "${line}",`).join("\n");
}

writeFileSync(
  join(folder, "../src/wasm/moduleBytes.ts"),
  `// Written by assembly/build.mjs; do not edit.

/** Hash of the sources that the modules were compiled from. */
export const sourceHash = "${hashSources(folder)}";

/** The compiled kernels, for engines that multiply and add in one instruction: relaxed SIMD. */
export const relaxedModule: Uint8Array = bytesOf(
  [
${compile("simd,threads,relaxed-simd")}
  ].join(""),
);

/** The compiled kernels, for all others. */
export const plainModule: Uint8Array = bytesOf(
  [
${compile("simd,threads")}
  ].join(""),
);

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.codePointAt(0)!);
}
`,
);
