// Builds and packs every package, runs publint and attw on what would be published, and holds its size against its README.
//   node scripts/checkPackages.mjs [--write]   --write states the sizes anew
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measurePackage } from "./packages/measurePackage.mjs";
import { statedSize, stateSize } from "./packages/statedSize.mjs";
import { publishablePackages } from "./publishablePackages.mjs";
import { runCommand, runOnAll } from "./runCommand.mjs";

const root = join(import.meta.dirname, "..");
const tarballs = mkdtempSync(join(tmpdir(), "check-packages-"));

async function check({ folder, manifest }) {
  const tarball = join(tarballs, `${manifest.name.replace(/.*\//, "")}.tgz`);
  await runCommand("pnpm", ["pack", "--out", tarball], { cwd: folder });
  await runCommand("pnpm", ["exec", "publint", tarball, "--strict"], { cwd: root });
  await runCommand("pnpm", ["exec", "attw", tarball, "--profile", "esm-only", "--no-color"], { cwd: root });
  const size = await measurePackage({ folder, manifest });
  if (process.argv.includes("--write")) stateSize(folder, size);
  const stated = statedSize(folder);
  const kilobytes = size.bytes / 1000;
  console.log(
    `${manifest.name}: ${size.exports} exports, ${kilobytes.toFixed(1)} kB, packed ${(statSync(tarball).size / 1000).toFixed(0)} kB`,
  );
  if (size.exports > stated.exports || kilobytes > stated.kilobytes)
    throw new Error(
      `${manifest.name}: more than the ${stated.exports} exports and ${stated.kilobytes} kB that its README states; ` +
        "take something out, or state the new size with pnpm check:packages --write",
    );
}

// Packing builds too, each package with those that it imports: side by side they would clean each other's folders.
await runCommand("pnpm", ["build"], { cwd: root });
const failures = (
  await runOnAll(publishablePackages(root), (item) =>
    check(item).then(
      () => null,
      ({ message }) => message,
    ),
  )
).filter((message) => message !== null);
rmSync(tarballs, { recursive: true });
for (const message of failures) console.error(message);
process.exit(failures.length === 0 ? 0 : 1);
