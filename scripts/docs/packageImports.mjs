import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const importFrom = /\b(?:import|export)\s+(type\s+)?([^;"']*?)\s*from\s+"(@[\w-]+\/[\w-]+)[^"]*"/g;

/** What each package of the workspace imports from the others, tests left out: by short name, "values" or "types". */
export function packageImports(packages) {
  const names = new Map(packages.map(({ manifest }) => [manifest.name, shortName(manifest.name)]));
  return new Map(
    packages.map(({ folder, manifest }) => [shortName(manifest.name), importsOf(join(folder, "src"), names)]),
  );
}

const shortName = (name) => name.replace(/.*\//, "");

function importsOf(source, names) {
  const files = readdirSync(source, { recursive: true }).filter(
    (file) => file.endsWith(".ts") && !/\.test\b|\.test-/.test(file),
  );
  const found = new Map();
  for (const file of files) {
    for (const [, typeOnly, clause, from] of readFileSync(join(source, file), "utf8").matchAll(importFrom)) {
      const name = names.get(from);
      if (name === undefined) continue;
      const types = typeOnly !== undefined || /^\{(\s*type\s[^,]+,?)+\s*\}$/.test(clause);
      if (!types || !found.has(name)) found.set(name, types ? "types" : "values");
    }
  }
  return found;
}
