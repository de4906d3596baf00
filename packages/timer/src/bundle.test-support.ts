import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "tsdown";

/** A minified module of the package as a page would load it, with its dependencies. */
export async function bundle(entry: string): Promise<string> {
  const outDir = mkdtempSync(join(tmpdir(), "timer-bundle-"));
  try {
    await build({
      config: false,
      logLevel: "silent",
      entry: { bundle: join(import.meta.dirname, entry) },
      outDir,
      format: "esm",
      platform: "browser",
      minify: true,
      dts: false,
      noExternal: [/./],
      clean: false,
      fixedExtension: false,
    });
    return readFileSync(join(outDir, "bundle.js"), "utf8");
  } finally {
    rmSync(outDir, { recursive: true });
  }
}
