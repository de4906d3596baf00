// Builds, then publishes every version that the registry does not have yet, from packed tarballs.
//   node scripts/publishPackages.mjs [--dry-run]
// Registry, access token and provenance come from npm's own configuration (.npmrc, NPM_CONFIG_*).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isPublished } from "./isPublished.mjs";
import { publishablePackages } from "./publishablePackages.mjs";
import { runCommand, runOnAll } from "./runCommand.mjs";

const root = join(import.meta.dirname, "..");
const dryRun = process.argv.includes("--dry-run");
const tarballs = mkdtempSync(join(tmpdir(), "release-"));

try {
  await runCommand("pnpm", ["build"], { cwd: root });
  await runOnAll(publishablePackages(root), async ({ folder, manifest }) => {
    const release = `${manifest.name}@${manifest.version}`;
    if (await isPublished(manifest)) {
      console.log(`${release} is published already`);
      return;
    }
    const tarball = join(tarballs, `${manifest.name.replace(/.*\//, "")}.tgz`);
    await runCommand("pnpm", ["pack", "--out", tarball], { cwd: folder });
    await runCommand("npm", ["publish", tarball, ...(dryRun ? ["--dry-run"] : [])], { cwd: root });
    console.log(`${release} ${dryRun ? "would be published" : "published"}`);
  });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(tarballs, { recursive: true });
}
