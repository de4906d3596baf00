import { spawn } from "node:child_process";
import { openSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";

/**
 * Starts a registry on loopback for packages of `scopes`. Gives the lines of an `.npmrc` by which npm and pnpm use it for these, with
 * the right to publish, and `stop`.
 */
export async function startRegistry({ folder, scopes }) {
  const config = join(folder, "verdaccio.json");
  writeFileSync(
    config,
    JSON.stringify({
      storage: join(folder, "storage"),
      auth: { htpasswd: { file: join(folder, "htpasswd"), max_users: 1 } },
      packages: Object.fromEntries(
        scopes.map((scope) => [`${scope}/*`, { access: "$all", publish: "$authenticated" }]),
      ),
      web: { enable: false },
      log: { type: "stdout", format: "pretty", level: "warn" },
    }),
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = openSync(join(folder, "verdaccio.log"), "w");
  const binary = join(dirname(createRequire(import.meta.url).resolve("verdaccio/package.json")), "bin/verdaccio");
  const server = spawn(process.execPath, [binary, "--config", config, "--listen", url], {
    cwd: folder,
    stdio: ["ignore", log, log],
  });
  const stop = () => server.kill();
  try {
    await answers(`${url}/-/ping`);
    const registries = scopes.map((scope) => `${scope}:registry=${url}/\n`);
    return { stop, npmrc: `${registries.join("")}//127.0.0.1:${port}/:_authToken=${await register(url)}\n` };
  } catch (error) {
    stop();
    throw error;
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function answers(url) {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (
      await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await setTimeout(100);
  }
  throw new Error(`${url}: no answer within 30 s`);
}

/** A token of a new user. */
async function register(url) {
  const name = "release-test";
  const response = await fetch(`${url}/-/user/org.couchdb.user:${name}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name, password: crypto.randomUUID() }),
  });
  return (await response.json()).token;
}
