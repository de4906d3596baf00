import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The packages of a checkout that are meant for a registry: their folder and manifest. */
export function publishablePackages(root) {
  return readdirSync(join(root, "packages"))
    .map((name) => {
      const folder = join(root, "packages", name);
      return { folder, manifest: JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) };
    })
    .filter(({ manifest }) => manifest.private !== true);
}
