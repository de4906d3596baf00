/** Trains every recipe that isn't trained yet. Arguments: the folder of the runs. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { recipes } from "./recipes.ts";
import { trainRecipe } from "./trainRecipe.ts";

const path = (place: string): string => fileURLToPath(new URL(place, import.meta.url));
const [folder = path("../../runs/recipes")] = process.argv.slice(2);
for (const recipe of recipes) {
  console.error(`${new Date().toISOString()} ${recipe.name}, ${recipe.steps} steps`);
  trainRecipe(recipe, join(folder, recipe.name));
}
