// Packs every publishable package, then runs publint and attw on what would be published and prints its size.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const out = mkdtempSync(join(tmpdir(), "dflash-pack-"));
let failed = 0;

const run = (cwd, command, args) => {
  try {
    return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    failed++;
    console.error(`${command} ${args.join(" ")} in ${cwd}:\n${error.stdout}${error.stderr}`);
    return "";
  }
};

for (const name of readdirSync(join(root, "packages"))) {
  const folder = join(root, "packages", name);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const before = new Set(readdirSync(out));
  run(folder, "pnpm", ["pack", "--pack-destination", out]);
  const tarball = readdirSync(out).find((file) => !before.has(file));
  if (tarball === undefined) continue;
  run(root, "pnpm", ["exec", "publint", join(out, tarball), "--strict"]);
  run(root, "pnpm", ["exec", "attw", join(out, tarball), "--profile", "esm-only", "--no-color"]);
  console.log(`@dflash/${name}@${version}  ${(statSync(join(out, tarball)).size / 1024).toFixed(1)} KiB packed`);
}
rmSync(out, { recursive: true, force: true });
process.exit(failed === 0 ? 0 : 1);
