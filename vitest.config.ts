import { readdirSync } from "node:fs";
import { defineConfig } from "vitest/config";

const root = import.meta.dirname;

/** Packages whose tests start a tensor engine: tfjs keeps global state, so each test file gets a process of its own. */
const numeric = new Set(["engine", "ops", "causal-lm", "target-forward", "drafter", "speculate", "trainer"]);

/** Where CI reads the counts of its last line from. */
const results = process.env["DFLASH_TEST_RESULTS"];

export default defineConfig({
  test: {
    reporters: results === undefined ? ["default"] : ["default", ["json", { outputFile: results }]],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Most tests keep one core busy at most: left at all cores but one, half of a small machine would idle.
    maxWorkers: "100%",
    setupFiles: [`${root}/tools/fixPropertySeed.ts`],
    projects: ["packages", "apps", "examples"].flatMap((folder) =>
      readdirSync(`${root}/${folder}`).map((name) => ({
        extends: true as const,
        test: {
          name,
          root: `${root}/${folder}/${name}`,
          include: ["src/**/*.test.ts", "*.test.ts"],
          pool: numeric.has(name) ? ("forks" as const) : ("threads" as const),
          isolate: numeric.has(name),
          ...(name === "trainer" && { globalSetup: `${root}/apps/trainer/src/bundleMain.test-support.ts` }),
        },
      })),
    ),
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**/*.ts"],
      exclude: ["**/*.test.ts"],
      reporter: ["text-summary"],
    },
  },
});
