import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** SHA-256 over the AssemblyScript files of a folder, in the order of their names. */
export function hashSources(folder) {
  const hash = createHash("sha256");
  const names = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  for (const name of names.toSorted()) hash.update(`${name}\n${readFileSync(join(folder, name), "utf8")}`);
  return hash.digest("hex");
}
