import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";
import type { PageData } from "./runData.ts";

const client = join(import.meta.dirname, "client");

/** What pages have in common: the script and the styles, bundled once. */
export interface PageParts {
  readonly script: string;
  readonly style: string;
}

/** Bundles the page's script, and its styles with those of the charts. */
export async function bundlePage(): Promise<PageParts> {
  const { outputFiles } = await build({
    entryPoints: [join(client, "main.ts")],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2023",
    write: false,
    logLevel: "silent",
  });
  const charts = createRequire(import.meta.url).resolve("uplot/dist/uPlot.min.css");
  const styles = await Promise.all([charts, join(client, "style.css")].map((path) => readFile(path, "utf8")));
  return { script: outputFiles[0]!.text, style: styles.join("\n") };
}

/** A script may not hold its own end tag, wherever it stands. */
const inScript = (text: string): string => text.replaceAll(/<\/(script)/gi, "<\\/$1");

/** What every page begins with. */
export const pageBeginning = "<!doctype html>";

/** One HTML file that needs nothing else; a live one asks its server for newer data. */
export function reportPage({ script, style }: PageParts, data: PageData): string {
  const title = data.runs.map(({ name }) => name).join(" and ") || "dflash train";
  const allowed = `default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; connect-src ${data.live ? "'self'" : "'none'"}`;
  return `${pageBeginning}
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="${allowed}">
<link rel="icon" href="data:,">
<title>${title.replaceAll(/[<&]/g, (letter) => (letter === "<" ? "&lt;" : "&amp;"))}</title>
<style>${style}</style>
</head>
<body>
<button id="theme" type="button" title="light or dark (t)" aria-label="light or dark">◐</button>
<main></main>
<script type="application/json" id="data">${JSON.stringify(data).replaceAll("<", "\\u003c")}</script>
<script>${inScript(script)}</script>
</body>
</html>
`;
}
