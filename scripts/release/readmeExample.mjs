import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What a package's README tells its reader to do: packages to add, and the code of its first example. */
export function readmeExample(folder) {
  const path = join(folder, "README.md");
  const text = readFileSync(path, "utf8");
  const packages = /^```sh\npnpm add (.+)\n```$/m.exec(text)?.[1].split(" ");
  if (packages === undefined) throw new Error(`${path}: has no sh block that is one line \`pnpm add …\``);
  const code = /^```ts\n([^]*?)^```$/m.exec(text)?.[1];
  if (code === undefined) throw new Error(`${path}: has no ts block to run`);
  return { packages, code };
}
