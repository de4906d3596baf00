import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const line = /^At most (\d+) exports and (\d+) kB, minified and gzipped, without dependencies\.$/m;

/** The limits that a package's README states: exports, and kB of code. */
export function statedSize(folder) {
  const path = join(folder, "README.md");
  const [, exports, kilobytes] = line.exec(readFileSync(path, "utf8")) ?? [];
  if (exports === undefined) throw new Error(`${path}: states no size; pnpm check:packages --write adds it`);
  return { exports: Number(exports), kilobytes: Number(kilobytes) };
}

/** States the size that a package has, with some room: two exports and a twentieth of the code, rounded up. */
export function stateSize(folder, { exports, bytes }) {
  const path = join(folder, "README.md");
  const text = readFileSync(path, "utf8");
  const stated = `At most ${5 * Math.ceil((exports + 2) / 5)} exports and ${Math.ceil((1.05 * bytes) / 1000)} kB, minified and gzipped, without dependencies.`;
  writeFileSync(path, line.test(text) ? text.replace(line, stated) : `${text.trimEnd()}\n\n${stated}\n`);
}
