// Checks the documentation: links and their anchors, code blocks, commands, and the picture of who imports whom.
//   node scripts/checkDocs.mjs [--write]   --write draws the picture anew
// A block ```ts from=FILE is an excerpt of FILE; the first block of a package's README is run by the release test.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";
import { checkCommands } from "./docs/checkCommands.mjs";
import { drawImports } from "./docs/drawImports.mjs";
import { packageImports } from "./docs/packageImports.mjs";
import { readMarkdown } from "./docs/readMarkdown.mjs";
import { publishablePackages } from "./publishablePackages.mjs";
import { runCommand } from "./runCommand.mjs";

const root = join(import.meta.dirname, "..");
const list = async (pattern) => {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", pattern];
  const files = (await runCommand("git", args, { cwd: root })).split("\n");
  return files.filter((file) => existsSync(join(root, file)));
};
const manifests = (await list("*package.json")).map((file) => JSON.parse(readFileSync(join(root, file), "utf8")));
const scriptsOf = (name = "dflash-typescript") => manifests.find((manifest) => manifest.name === name)?.scripts;
// Changelogs and changesets are generated, or become so.
const files = (await list("*.md")).filter((file) => !/(^|\/)CHANGELOG\.md$|^\.changeset\//.test(file));
const pages = new Map(files.map((file) => [join(root, file), readMarkdown(readFileSync(join(root, file), "utf8"))]));
const faults = [];

function checkLink(page, link) {
  if (/^[a-z]+:/.test(link)) return;
  const [path, anchor] = link.split("#");
  const target = path === "" ? page : resolve(dirname(page), path);
  if (!existsSync(target)) faults.push(`${relative(root, page)}: the link ${link} leads nowhere`);
  else if (anchor !== undefined && pages.get(target)?.anchors.has(anchor) !== true)
    faults.push(`${relative(root, page)}: ${link} names no heading`);
}

async function checkBlock(page, { language, info, code }) {
  const fault = (what) =>
    faults.push(`${relative(root, page)}: ${what}, in the block that begins ${JSON.stringify(code.slice(0, 50))}`);
  const source = /^from=(\S+)$/.exec(info)?.[1];
  if (source !== undefined) {
    if (!readFileSync(join(root, source), "utf8").includes(code)) fault(`${source} holds no such text`);
  } else if (language === "json") {
    try {
      JSON.parse(code);
    } catch (error) {
      fault(error.message);
    }
  } else if (language === "js" || language === "ts") {
    const { diagnostics } = ts.transpileModule(code, {
      reportDiagnostics: true,
      compilerOptions: { module: ts.ModuleKind.ESNext },
    });
    for (const { messageText } of diagnostics) fault(ts.flattenDiagnosticMessageText(messageText, " "));
    if (language === "ts" && !page.startsWith(join(root, "packages")))
      fault("no from=FILE says which tested file it is from");
  } else if (language === "sh" || language === "") {
    for (const wrong of await checkCommands({ code, scriptsOf, root })) fault(wrong);
  }
}

/** The table's last column and the diagram must say what the sources import. */
function checkImports() {
  const page = join(root, "docs/architecture.md");
  const imports = packageImports(publishablePackages(root));
  const text = readFileSync(page, "utf8");
  for (const [name, used] of imports) {
    const said = new RegExp(`^\\| \`@[\\w-]+/${name}\` .*\\| ([^|]+) \\|$`, "m").exec(text)?.[1];
    const stated = said === "none" ? [] : (said?.split(", ") ?? []);
    const found = [...used].map(([other, how]) => (how === "types" ? `${other} (types)` : other));
    if (stated.length !== found.length || found.some((other) => !stated.includes(other)))
      faults.push(`docs/architecture.md: ${name} imports ${found.join(", ") || "none"}, its row says ${said}`);
  }
  const drawn = text.replace(/^```mermaid\n[^]*?^```$/m, drawImports(imports));
  if (process.argv.includes("--write")) writeFileSync(page, drawn);
  else if (drawn !== text)
    faults.push("docs/architecture.md: the picture of imports is not up to date; pnpm check:docs --write");
}

for (const [page, { links, blocks }] of pages) {
  for (const link of links) checkLink(page, link);
  for (const block of blocks) await checkBlock(page, block);
}
checkImports();
for (const fault of faults) console.error(fault);
console.log(`${pages.size} pages, ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
