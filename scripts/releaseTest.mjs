// Releases every package to a throw-away registry on loopback and uses each one from outside, as its README says.
// Works on a clone of the last commit; the folder with everything in it is kept when a part fails.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publishablePackages } from "./publishablePackages.mjs";
import { addAlone } from "./release/addAlone.mjs";
import { checkTypes } from "./release/checkTypes.mjs";
import { runExample } from "./release/runExample.mjs";
import { runPipeline } from "./release/runPipeline.mjs";
import { startRegistry } from "./release/startRegistry.mjs";
import { runCommand, runOnAll } from "./runCommand.mjs";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "release-test-"));
const started = performance.now();
const report = (line) => console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${line}`);

const clone = join(folder, "clone");
const projects = join(folder, "projects");
mkdirSync(projects);
const scopes = [...new Set(publishablePackages(root).map(({ manifest }) => manifest.name.split("/")[0]))];
// Takes half the time of rmSync for the many files of node_modules.
const clear = () => spawnSync("rm", ["-rf", folder]);
let registry;
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    registry?.stop();
    clear();
    process.exit(1);
  });
}
try {
  registry = await startRegistry({ folder, scopes });
  const { npmrc } = registry;
  const [newestNode] = await Promise.all([installNode(24), prepareClone(npmrc)]);
  report("cloned and versioned");
  await Promise.all([
    refusesSources(),
    runCommand(process.execPath, ["scripts/publishPackages.mjs"], {
      cwd: clone,
      env: { TURBO_TELEMETRY_DISABLED: "1" },
    }),
  ]);
  const released = publishablePackages(clone);
  report(`built and published ${released.map(({ manifest }) => `${manifest.name}@${manifest.version}`).join(" ")}`);

  const shared = {
    projects,
    npmrc,
    // Version 7, which takes a tenth of the time of 6.
    compiler: join(root, "node_modules/typescript-7/bin/tsc"),
    model: join(root, "data/tiny-target"),
    chats: join(root, "data/gsm8k/train.tiny-target.jsonl"),
  };
  const consumers = await runOnAll(released, async (item) => ({
    ...item,
    project: await addAlone({ ...shared, ...item, client: "pnpm" }),
  }));
  report("each package added alone with pnpm");
  const types = checkTypes(consumers, shared.compiler).then(() => report("types checked"));
  // First, since examples take the drafter that it trains.
  const drafter = await runPipeline({
    ...shared,
    example: join(root, "examples/training-loop"),
    released,
    nodes: [process.execPath, newestNode],
  });
  report("a pipeline of published packages trained, with a formatter of its own");
  const examples = runOnAll(consumers, async (item) => {
    await runExample({ ...shared, ...item, drafter, node: process.execPath });
    const project = await addAlone({ ...shared, ...item, client: "npm" });
    await runExample({ ...shared, ...item, project, drafter, node: newestNode });
    report(`${item.manifest.name} added alone with npm, its example run with both`);
  });
  await Promise.all([types, examples]);
  clear();
  report("cleared up");
} catch (error) {
  console.error(`${error.message}\nkept ${folder}`);
  process.exitCode = 1;
} finally {
  registry?.stop();
}

/** A clone whose packages have new versions and are built. */
async function prepareClone(npmrc) {
  await runCommand("git", ["clone", "-q", root, clone]);
  writeFileSync(join(clone, ".npmrc"), npmrc);
  const names = publishablePackages(clone).map(({ manifest }) => `"${manifest.name}": minor`);
  writeFileSync(join(clone, ".changeset/release-test.md"), `---\n${names.join("\n")}\n---\n\nA release for a test.\n`);
  await runCommand("pnpm", ["install", "--frozen-lockfile", "--prefer-offline", "--ignore-scripts"], { cwd: clone });
  await runCommand("pnpm", ["changeset", "version"], { cwd: clone });
}

/** A package must not be published from its folder. */
async function refusesSources() {
  const { folder: cwd, manifest } = publishablePackages(clone)[0];
  const outcome = await runCommand("npm", ["publish", "--dry-run"], { cwd }).then(
    () => "accepted",
    ({ message }) => message,
  );
  if (!outcome.includes("refused:")) throw new Error(`npm publish in ${manifest.name} was not refused:\n${outcome}`);
}

/** The binary of the newest Node of a major version. */
async function installNode(major) {
  if (process.version.startsWith(`v${major}.`)) return process.execPath;
  const platform = process.platform === "win32" ? "win" : process.platform;
  const name = `node-${platform}-${process.arch}@${major}`;
  return runCommand("pnpm", [`--package=${name}`, "dlx", "node", "-p", "process.execPath"]);
}
