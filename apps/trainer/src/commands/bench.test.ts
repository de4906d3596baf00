import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { benchmarks } from "../benchmarks.ts";
import { dflash, repository, temporaryFolder } from "../dflash.test-support.ts";

test("bench names the benchmarks that there are, and takes arguments for one of them only", async () => {
  const unknown = await dflash(["bench", "speed"], temporaryFolder());
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toMatch(/^dflash: bench speed: no such benchmark; there are .*block-mask.*timer\n$/);
  const two = await dflash(["bench", "timer", "log", "--", "--rounds", "2"], temporaryFolder());
  expect(two.code).toBe(1);
  expect(two.stderr).toMatch(/^dflash: bench -- --rounds 2: name the one benchmark that takes these arguments\n$/);
});

describe("the pages of figures", () => {
  const docs = join(repository, "docs");
  const pages = readdirSync(join(docs, "benchmarks")).map((name) => `benchmarks/${name}`);
  const named = (page: string): string[] =>
    [...readFileSync(join(docs, page), "utf8").matchAll(/pnpm(?:@[\d.]+)? dflash bench ([a-z\d][\w:.-]*)/g)].map(
      ([, name]) => name!,
    );
  const all = benchmarks();

  test.each([...pages, "benchmarks.md", "case-study.md"])("docs/%s says how to measure them again", (page) => {
    expect(named(page)).not.toEqual([]);
    expect([...all.keys()]).toEqual(expect.arrayContaining(named(page)));
  });

  test("no benchmark is without a page", () => {
    const told = new Set([...pages, "benchmarks.md", "case-study.md"].flatMap(named));
    expect([...all.keys()].filter((name) => !told.has(name))).toEqual([]);
  });
});
