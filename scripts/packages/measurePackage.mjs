import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "tsdown";

/** What users of a built package get: its public exports, types included, and its code in bytes, minified and gzipped, without dependencies. */
export async function measurePackage({ folder, manifest }) {
  const entries = Object.values(manifest.publishConfig.exports).filter((entry) => typeof entry === "object");
  const names = entries.map(({ types }) => exportedNames(readFileSync(join(folder, types), "utf8")));
  const outDir = mkdtempSync(join(tmpdir(), "size-"));
  try {
    const entry = Object.fromEntries(entries.map((file, index) => [`entry${index}`, join(folder, file.default)]));
    const options = { config: false, logLevel: "silent", format: "esm", minify: true, dts: false, clean: false };
    await build({ ...options, cwd: folder, entry, outDir, platform: "node", external: [/^[^./]/] });
    const code = readdirSync(outDir).map((file) => gzipSync(readFileSync(join(outDir, file)), { level: 9 }).length);
    return { exports: new Set(names.flat()).size, bytes: code.reduce((sum, bytes) => sum + bytes, 0) };
  } finally {
    rmSync(outDir, { recursive: true });
  }
}

/** The names in a bundled declaration file, which exports in one list at its end. */
function exportedNames(declarations) {
  const list = /^export \{([^}]*)\};?$/m.exec(declarations)?.[1] ?? "";
  const named = list.split(",").map((name) =>
    name
      .trim()
      .replace(/^type /, "")
      .replace(/.* as /, ""),
  );
  const direct = [
    ...declarations.matchAll(/^export (?:declare )?(?:default|function|const|interface|type|class) ?(\w*)/gm),
  ];
  return [...named.filter((name) => name !== ""), ...direct.map(([, name]) => name)];
}
