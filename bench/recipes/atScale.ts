/**
 * Prints docs/benchmarks/recipes-at-scale.md and draws its pictures from runs that are there. Argument: their folder; each run in a
 * folder of its name in `recipesAtScale`, with its log.ndjson and its eval.json.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readCausalLMConfig } from "@dflash/causal-lm";
import { drawCurves, type NamedRun } from "./drawCurves.ts";
import { readRun } from "./readRun.ts";
import { recipesAtScale } from "./recipesAtScale.ts";
import { writeAtScale } from "./writeAtScale.ts";

const path = (place: string): string => fileURLToPath(new URL(`../../${place}`, import.meta.url));
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("at-scale: give the folder of the runs");

const target = await readCausalLMConfig(path("data/tiny-target"));
const runs: NamedRun[] = [];
for (const { name } of recipesAtScale) runs.push([name, await readRun(join(folder, name), target)]);
writeFileSync(path("docs/pictures/recipes-at-scale-flops.svg"), drawCurves(runs, "teraFlops", "TFLOPs of training"));
writeFileSync(path("docs/pictures/recipes-at-scale-wall.svg"), drawCurves(runs, "wallSeconds", "seconds of training"));
process.stdout.write(writeAtScale(runs));
