/**
 * Trains every recipe that isn't trained yet, and writes docs/benchmarks/recipes.md from those that are. It can be stopped and goes
 * on. Arguments: the folder of the runs, and `--write` to train none.
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
const [folder = path("runs/recipes"), mode] = process.argv.slice(2);

if (mode !== "--write") {
  for (const recipe of recipes) {
    console.error(`${new Date().toISOString()} ${recipe.name}, ${recipe.steps} steps`);
    trainRecipe(recipe, join(folder, recipe.name));
  }
}
const target = await readCausalLMConfig(path("data/tiny-target"));
const all: Trained[] = [];
for (const recipe of recipes.filter(({ name }) => isTrained(join(folder, name))))
  all.push({ recipe, run: await readRun(join(folder, recipe.name), target) });
const runs = all.map(({ recipe, run }): NamedRun => [recipe.name, run]);
writeFileSync(path("docs/benchmarks/recipes.md"), writeRecipes(all));
writeFileSync(path("docs/pictures/recipes-flops.svg"), drawCurves(runs, "teraFlops", "TFLOPs of training"));
writeFileSync(path("docs/pictures/recipes-cpu.svg"), drawCurves(runs, "cpuSeconds", "CPU seconds of training"));
