import { join } from "node:path";
import { runCommand } from "./runCommand.mjs";

/** Its .npmrc counts. */
const cwd = join(import.meta.dirname, "..");

/** Registry of each scope that was asked for. */
const registries = new Map();

/** Where npm's own configuration sends the packages of a scope. */
async function registryOf(scope) {
  const own = await runCommand("npm", ["config", "get", `${scope}:registry`], { cwd });
  return own === "undefined" ? runCommand("npm", ["config", "get", "registry"], { cwd }) : own;
}

/** Whether the registry that npm would publish to has this version. pnpm asks it, in a tenth of the time that npm takes. */
export async function isPublished({ name, version }) {
  const [scope] = name.split("/");
  if (!registries.has(scope)) registries.set(scope, registryOf(scope));
  const registry = await registries.get(scope);
  return runCommand("pnpm", ["view", `${name}@${version}`, "version", "--registry", registry], { cwd }).then(
    () => true,
    (error) => {
      if (/ERR_PNPM_(FETCH_404|PACKAGE_NOT_FOUND)/.test(error.message)) return false;
      throw error;
    },
  );
}
