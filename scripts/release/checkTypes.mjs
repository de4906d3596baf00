import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../runCommand.mjs";

/** How TypeScript finds modules in the projects of those who use a package. */
const resolutions = [
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "preserve", moduleResolution: "bundler" },
];

/**
 * Checks, in each project that a package was added to, the example and every type of every entry point of the package. Each project
 * is a program of its own; one process checks them all.
 */
export async function checkTypes(consumers, compiler) {
  const configs = consumers.flatMap(({ project, manifest }) => writeConfigs(project, manifest));
  await runCommand(process.execPath, [compiler, "--build", "--singleThreaded", ...configs]);
}

function writeConfigs(project, manifest) {
  copyFileSync(join(project, "example.mjs"), join(project, "example.mts"));
  const entries = Object.keys(manifest.exports).filter((entry) => !entry.endsWith(".json"));
  const imports = entries.map((entry, index) => `import * as entry${index} from "${manifest.name}${entry.slice(1)}";`);
  const names = entries.map((_, index) => `entry${index}`);
  writeFileSync(join(project, "entries.mts"), `${imports.join("\n")}\nexport { ${names.join()} };\n`);
  return resolutions.map((resolution) => {
    const config = join(project, `tsconfig.${resolution.moduleResolution}.json`);
    const compilerOptions = {
      ...resolution,
      target: "es2023",
      lib: ["es2023"],
      types: ["node"],
      strict: true,
      // The example may leave parameters without types, as plain JavaScript does.
      noImplicitAny: false,
      skipLibCheck: false,
      noEmit: true,
    };
    writeFileSync(config, JSON.stringify({ compilerOptions, files: ["example.mts", "entries.mts"] }));
    return config;
  });
}
