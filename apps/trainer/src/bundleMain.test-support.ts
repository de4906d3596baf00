import { mkdtemp, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The command line's main file, in JavaScript. */
    main: string;
  }
}

/** Every module believes itself where its source lies; what isn't ours is loaded from where the source would load it. */
const inPlace: Plugin = {
  name: "in-place",
  setup(bundler) {
    bundler.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      if (/^(node:|@dflash\/)/.test(path) || pluginData === inPlace) return undefined;
      const { resolveDir, importer, kind } = from;
      const found = await bundler.resolve(path, { resolveDir, importer, kind, pluginData: inPlace });
      // What isn't installed is looked for when it is needed.
      return found.errors.length > 0
        ? { path, external: true }
        : { path: pathToFileURL(found.path).href, external: true };
    });
    bundler.onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      loader: "ts",
      contents: (await readFile(path, "utf8"))
        .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)))
        .replaceAll("import.meta.filename", JSON.stringify(path))
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href)),
    }));
  },
};

/** Bundles the command line for the tests that start it as a process, since plain Node starts a bundle in half the time. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const app = join(import.meta.dirname, "..");
  // From here its workers' modules are found as from its source.
  const outdir = await mkdtemp(join(app, "node_modules/.main-"));
  await build({
    entryPoints: [join(app, "src/main.ts")],
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    outExtension: { ".js": ".mjs" },
    plugins: [inPlace],
  });
  project.provide("main", join(outdir, "main.mjs"));
  return () => rm(outdir, { recursive: true });
}
