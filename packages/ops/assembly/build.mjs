// Compiles the kernels in this folder into ../src/wasm/moduleBytes.ts.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashSources } from "./hashSources.mjs";

const folder = import.meta.dirname;
const scratch = mkdtempSync(join(tmpdir(), "kernels-"));
const [wasm, text] = ["kernels.wasm", "kernels.wat"].map((name) => join(scratch, name));
const options = "-O3 --noAssert --runtime stub --importMemory --sharedMemory --initialMemory 1 --maximumMemory 65536";
execFileSync(
  "npx",
  [
    "--yes",
    "-p",
    "assemblyscript@0.28.20",
    "asc",
    "index.ts",
    ...options.split(" "),
    "--enable",
    "simd,threads",
  ].concat("--disableWarning", "112", "--outFile", wasm, "--textFile", text),
  { cwd: folder, stdio: "inherit" },
);
// Data would be written over whatever the tensor engine keeps at the bottom of its heap.
if (readFileSync(text, "utf8").includes("(data")) throw new Error("the module has static data");
const lines = readFileSync(wasm)
  .toString("base64")
  .match(/.{1,110}/gu);
writeFileSync(
  join(folder, "../src/wasm/moduleBytes.ts"),
  `// Written by assembly/build.mjs; do not edit.

/** Hash of the sources that {@link moduleBytes} was compiled from. */
export const sourceHash = "${hashSources(folder)}";

/** The compiled kernels. */
export const moduleBytes: Uint8Array = Buffer.from(
  [
${lines.map((line) => `    "${line}",`).join("\n")}
  ].join(""),
  "base64",
);
`,
);
rmSync(scratch, { recursive: true });
