// The API reference of every published entry point, by typedoc.
//   node scripts/apiReference.mjs          checks that every export and every member of one is documented, and every link
//   node scripts/apiReference.mjs <folder> writes <folder>/html and <folder>/markdown as well
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Application, Converter, ReflectionKind } from "typedoc";

const root = join(import.meta.dirname, "..");
const folder = process.argv[2];

/** Each entry point: the name it is imported by, and its source file. */
const entryPoints = readdirSync(join(root, "packages")).flatMap((name) => {
  const manifest = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
  return Object.entries(manifest.exports)
    .filter(([, file]) => file.endsWith(".ts"))
    .map(([entry, file]) => ({ manifest, name: manifest.name + entry.slice(1), file: join("packages", name, file) }));
});
/** What typedoc calls a module by itself: its path under packages/. */
const moduleName = ({ file }) => relative("packages", file).replace(/(\/index)?\.ts$/, "");
const importNames = new Map(entryPoints.map((entry) => [moduleName(entry), entry.name]));

// One program over all entry points: a package each would check the shared sources again and again.
const app = await Application.bootstrapWithPlugins({
  name: "DFlash in TypeScript",
  entryPoints: entryPoints.map(({ file }) => join(root, file)),
  tsconfig: join(root, "tsconfig.json"),
  plugin: ["typedoc-plugin-markdown"],
  readme: "none",
  // `pnpm typecheck` does that, five times as fast.
  skipErrorChecking: true,
  disableSources: true,
  treatWarningsAsErrors: true,
  validation: { notDocumented: true, invalidLink: true, notExported: true, rewrittenLink: true },
  // Without it members of packages other than the root are left out.
  packagesRequiringDocumentation: [...new Set(entryPoints.map(({ manifest }) => manifest.name))],
  requiredToBeDocumented: ["Function", "Class", "Interface", "TypeAlias", "Variable", "Enum", "Method", "Accessor"],
  outputs:
    folder === undefined
      ? []
      : [
          { name: "html", path: join(folder, "html") },
          { name: "markdown", path: join(folder, "markdown") },
        ],
});
app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_context, reflection) => {
  if (reflection.kindOf(ReflectionKind.Module)) reflection.name = importNames.get(reflection.name) ?? reflection.name;
});
const project = await app.convert();
if (project === undefined) process.exit(1);
app.validate(project);
// Typedoc's own list knows properties only all together, those of types written inline included.
for (const property of project.getReflectionsByKind(ReflectionKind.Property)) {
  const ofInterface = property.parent.kindOf([ReflectionKind.Interface, ReflectionKind.Class]);
  const isFunction = property.type?.type === "reflection" && property.type.declaration.signatures !== undefined;
  if (ofInterface && !isFunction && !property.inheritedFrom && !property.hasComment())
    app.logger.warn(`${property.getFriendlyFullName()} does not have any documentation`);
}
if (folder !== undefined) await app.generateOutputs(project);
process.exit(app.logger.hasErrors() || app.logger.hasWarnings() ? 1 : 0);
