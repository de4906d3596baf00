// Releases every package to a throw-away registry on loopback and uses each one from outside, as its README says.
// Works on a clone of the last commit; the folder with everything in it is kept when a part fails.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publishablePackages } from "./publishablePackages.mjs";
import { consumePackage } from "./release/consumePackage.mjs";
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
let registry;
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    registry?.stop();
    rmSync(folder, { recursive: true });
    process.exit(1);
  });
}
try {
  registry = await startRegistry({ folder, scopes });
  const [newestNode] = await Promise.all([installNode(24), prepareClone()]);
  const env = { ...registry.env, TURBO_TELEMETRY_DISABLED: "1" };
  report("cloned and versioned");
  await refusesSources();
  await runCommand(process.execPath, ["scripts/publishPackages.mjs"], { cwd: clone, env });
  const released = publishablePackages(clone);
  report(`built and published ${released.map(({ manifest }) => `${manifest.name}@${manifest.version}`).join(" ")}`);

  const shared = {
    projects,
    env,
    nodes: { current: process.execPath, newest: newestNode },
    // Version 7, which takes a tenth of the time of 6.
    compiler: join(root, "node_modules/typescript-7/bin/tsc"),
    model: join(root, "data/tiny-target"),
    chats: join(root, "data/gsm8k/train.tiny-target.jsonl"),
  };
  // First, since examples take the drafter that it trains.
  const drafter = runPipeline({ ...shared, example: join(root, "examples/training-loop"), released });
  const pipeline = drafter.then(() => report("a pipeline of published packages trained, with a formatter of its own"));
  const consumed = runOnAll(released, async (item) => {
    await consumePackage({ ...shared, ...item, drafter });
    report(`${item.manifest.name} added alone with pnpm and npm, its example run, its types checked`);
  });
  await Promise.all([pipeline, consumed]);
  rmSync(folder, { recursive: true });
} catch (error) {
  console.error(`${error.message}\nkept ${folder}`);
  process.exitCode = 1;
} finally {
  registry?.stop();
}

/** A clone whose packages have new versions and are built. */
async function prepareClone() {
  await runCommand("git", ["clone", "-q", root, clone]);
  const names = publishablePackages(clone).map(({ manifest }) => `"${manifest.name}": minor`);
  writeFileSync(join(clone, ".changeset/release-test.md"), `---\n${names.join("\n")}\n---\n\nA release for a test.\n`);
  await runCommand("pnpm", ["install", "--frozen-lockfile", "--prefer-offline", "--ignore-scripts"], { cwd: clone });
  await runCommand("pnpm", ["changeset", "version"], { cwd: clone });
}

/** A package must not be published from its folder. */
async function refusesSources() {
  const { folder: cwd, manifest } = publishablePackages(clone)[0];
  const outcome = await runCommand("npm", ["publish", "--dry-run"], { cwd, env: registry.env }).then(
    () => "accepted",
    ({ message }) => message,
  );
  if (!outcome.includes("refused:")) throw new Error(`npm publish in ${manifest.name} was not refused:\n${outcome}`);
}

/** The binary of a Node of another major version. */
async function installNode(major) {
  if (process.version.startsWith(`v${major}.`)) return process.execPath;
  return runCommand("npx", ["--yes", "-p", `node@${major}`, "-c", "command -v node"]);
}
