import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../runCommand.mjs";
import { readmeExample } from "./readmeExample.mjs";

/** What adds packages with each package manager. */
const add = {
  pnpm: ["add", "--ignore-workspace", "@types/node@20"],
  npm: ["install", "--no-audit", "--no-fund", "--loglevel=error"],
};

/** Does what a package's README says, in an empty folder: adds it and what its example imports. Gives the folder, with the example in it. */
export async function addAlone({ client, folder, manifest, projects, npmrc }) {
  const { packages, code } = readmeExample(folder);
  if (!packages.includes(manifest.name)) throw new Error(`${manifest.name}: its README does not say to add it`);
  const project = join(projects, `${client}-${manifest.name.replace(/.*\//, "")}`);
  mkdirSync(project);
  writeFileSync(join(project, ".npmrc"), npmrc);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  writeFileSync(join(project, "example.mjs"), code);
  await runCommand(client, [...add[client], ...packages], { cwd: project });
  return project;
}
