import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../runCommand.mjs";
import { readmeExample } from "./readmeExample.mjs";

/** The package managers, what adds packages with them, and the Node that then runs the example. */
const clients = [
  { client: "pnpm", add: ["add", "--ignore-workspace", "@types/node@20"], node: "current" },
  { client: "npm", add: ["install", "--no-audit", "--no-fund", "--loglevel=error"], node: "newest" },
];

/** How TypeScript finds modules in the projects of those who use a package. */
const resolutions = [
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "preserve", moduleResolution: "bundler" },
];

/**
 * Does what a package's README says, in an empty folder: adds it and what its example imports, checks the example and every
 * type of every entry point, and runs the example with the folders of a target model and of a drafter (a promise) as arguments.
 */
export async function consumePackage({ folder, manifest, projects, env, nodes, compiler, model, drafter }) {
  const { packages, code } = readmeExample(folder);
  if (!packages.includes(manifest.name)) throw new Error(`${manifest.name}: its README does not say to add it`);
  for (const { client, add, node } of clients) {
    const project = join(projects, `${client}-${manifest.name.replace(/.*\//, "")}`);
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
    writeFileSync(join(project, "example.mjs"), code);
    await runCommand(client, [...add, ...packages], { cwd: project, env });
    if (client === "pnpm") await checkTypes({ project, manifest, code, compiler });
    const printed = await runCommand(nodes[node], ["example.mjs", model, await drafter], { cwd: project });
    if (printed === "") throw new Error(`${manifest.name}: the README's example prints nothing`);
  }
}

/** The example may leave parameters without types, as plain JavaScript does; all else is strict. */
async function checkTypes({ project, manifest, code, compiler }) {
  writeFileSync(join(project, "example.mts"), code);
  const entries = Object.keys(manifest.exports).filter((entry) => !entry.endsWith(".json"));
  const imports = entries.map((entry, index) => `import * as entry${index} from "${manifest.name}${entry.slice(1)}";`);
  writeFileSync(
    join(project, "entries.mts"),
    `${imports.join("\n")}\nexport { ${entries.map((_, index) => `entry${index}`).join()} };\n`,
  );
  for (const resolution of resolutions) {
    const config = join(project, `tsconfig.${resolution.moduleResolution}.json`);
    const compilerOptions = {
      ...resolution,
      target: "es2023",
      lib: ["es2023"],
      types: ["node"],
      strict: true,
      noImplicitAny: false,
      skipLibCheck: false,
      noEmit: true,
    };
    writeFileSync(config, JSON.stringify({ compilerOptions, files: ["example.mts", "entries.mts"] }));
    await runCommand(process.execPath, [compiler, "-p", config], { cwd: project });
  }
}
