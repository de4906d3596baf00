/**
 * Prints docs/benchmarks/recipes.md and draws its pictures. Runs that are there are not made again, so that it can be stopped and goes
 * on. Arguments: the folder of the runs; and how many more of them to make, all unless given.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readCausalLMConfig } from "@dflash/causal-lm";
import { drawCurves, type NamedRun } from "./drawCurves.ts";
import { readRun } from "./readRun.ts";
import { recipes } from "./recipes.ts";
import { isTrained, trainRecipe } from "./trainRecipe.ts";
import { type Trained, writeRecipes } from "./writeRecipes.ts";

const path = (place: string): string => fileURLToPath(new URL(`../../${place}`, import.meta.url));
const [folder = path("runs/recipes"), most = recipes.length] = process.argv.slice(2);

const missing = recipes.filter(({ name }) => !isTrained(join(folder, name))).slice(0, Number(most));
for (const [i, recipe] of missing.entries()) {
  console.error(`${i + 1} of ${missing.length}: ${recipe.name}, ${recipe.steps} steps`);
  trainRecipe(recipe, join(folder, recipe.name));
}

const target = await readCausalLMConfig(path("data/tiny-target"));
const all: Trained[] = [];
for (const recipe of recipes.filter(({ name }) => isTrained(join(folder, name))))
  all.push({ recipe, run: await readRun(join(folder, recipe.name), target) });
const runs = all.map(({ recipe, run }): NamedRun => [recipe.name, run]);
writeFileSync(path("docs/pictures/recipes-flops.svg"), drawCurves(runs, "teraFlops", "TFLOPs of training"));
writeFileSync(path("docs/pictures/recipes-cpu.svg"), drawCurves(runs, "cpuSeconds", "CPU seconds of training"));
process.stdout.write(writeRecipes(all));
