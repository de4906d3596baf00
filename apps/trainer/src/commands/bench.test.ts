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

test("bench lists the benchmarks, and takes names or --all", async () => {
  const listed = await dflash(["bench"], temporaryFolder());
  expect(listed.code).toBe(0);
  expect(listed.stdout).toMatch(/^timer +\d+ (s|min) +\d+ (s|min) +what a section costs/m);
  expect(listed.stdout).toMatch(/^drafter +.* \(uses PyTorch, TensorFlow\)$/m);
  for (const [name, { quick, quickMinutes }] of benchmarks()) {
    expect(listed.stdout).toMatch(new RegExp(`^${name}\\b`, "m"));
    expect([name, quick === null]).toEqual([name, quickMinutes === undefined]);
  }
  const both = await dflash(["bench", "--all", "timer"], temporaryFolder());
  expect(both.code).toBe(1);
  expect(both.stderr).toBe("dflash: bench --all timer: give names or --all\n");
});

test("bench says which have no quick form, and fails with one that fails", async () => {
  const { code, stdout, stderr } = await dflash(["bench", "--quick", "recipes", "drafter:kills"], temporaryFolder());
  expect(code).toBe(0);
  expect(stdout).toMatch(/^recipes +no quick form$/m);
  expect(stderr).toBe("");
  const failing = await dflash(["bench", "default-run", "--", "--no-such"], temporaryFolder());
  expect(failing.code).toBe(1);
  expect(failing.stderr).toMatch(/^dflash: default-run failed; what was printed says why$/m);
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
