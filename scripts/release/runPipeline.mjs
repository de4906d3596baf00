import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../runCommand.mjs";

const steps = 3;

/**
 * Copies an example that trains a drafter out of the workspace, gives it published packages instead, compiles it as strictly
 * as TypeScript can, and runs it with the given Nodes. Gives the folder of the drafter that it trained.
 */
export async function runPipeline({ example, released, projects, npmrc, nodes, compiler, model, chats }) {
  const project = join(projects, "pipeline");
  mkdirSync(project);
  writeFileSync(join(project, ".npmrc"), npmrc);
  for (const file of readdirSync(example).filter((name) => /(?<!\.test)\.ts$/.test(name)))
    cpSync(join(example, file), join(project, file));
  const { dependencies } = JSON.parse(readFileSync(join(example, "package.json"), "utf8"));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "pipeline", private: true, type: "module" }));
  const versions = new Map(released.map(({ manifest }) => [manifest.name, manifest.version]));
  // What isn't ours comes as a dependency or peer of it, or in any version.
  const ours = Object.keys(dependencies).filter((name) => versions.has(name));
  const others = Object.keys(dependencies).filter((name) => !versions.has(name) && !name.startsWith("@tensorflow/"));
  const packages = [...ours.map((name) => `${name}@${versions.get(name)}`), ...others, "@types/node@20"];
  await runCommand("pnpm", ["add", "--ignore-workspace", ...packages], { cwd: project });

  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    lib: ["es2023"],
    types: ["node"],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    rewriteRelativeImportExtensions: true,
    outDir: "dist",
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  await runCommand(process.execPath, [compiler, "-p", "."], { cwd: project });
  for (const node of nodes) {
    const printed = await runCommand(node, ["dist/trainLoop.js", model, chats, String(steps), "drafter"], {
      cwd: project,
    });
    const losses = printed.split("\n").map((line) => Number(/^\d+ [↓↑] loss ([\d.]+)/.exec(line)?.[1]));
    if (losses.length !== steps || !(losses.at(-1) < losses[0]))
      throw new Error(`pipeline: expected ${steps} lines of its formatter with a loss that falls, got\n${printed}`);
  }
  return join(project, "drafter");
}
