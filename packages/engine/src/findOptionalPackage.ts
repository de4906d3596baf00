import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

/**
 * Path of a file of an optional package, such as `name/package.json`, or of its entry; null when it is not installed. pnpm
 * links a package only where it is declared, which is the app's folder and not this one.
 */
export function findOptionalPackage(path: string, resolveFrom: string | undefined): string | null {
  const script = process.argv[1];
  const folders = [resolveFrom, process.cwd(), script === undefined ? undefined : dirname(script), import.meta.dirname];
  for (const folder of folders) {
    if (folder === undefined) continue;
    try {
      return createRequire(join(resolve(folder), "package.json")).resolve(path);
    } catch {
      // Not linked from there.
    }
  }
  return null;
}
