import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Recipe } from "./recipes.ts";

const main = fileURLToPath(new URL("../../apps/trainer/src/main.ts", import.meta.url));
const cpuTime = fileURLToPath(new URL("cpuTime.ts", import.meta.url));

/** Prompts that every acceptance length is measured on, and tokens of an answer. */
export const evaluation = { prompts: 16, tokens: 48 };

/** Flags of every run. */
const common = `--engine wasm --threads 1 --eval-prompts ${evaluation.prompts} --eval-tokens ${evaluation.tokens} --checkpoint-every 100000`;

/** What a recipe is trained by. */
export function flagsOf({ flags, steps }: Recipe): string {
  return `${common} --steps ${steps} --eval-every ${Math.ceil(steps / 2)} ${flags}`.trim();
}

/** Whether the folder holds a whole run. */
export const isTrained = (folder: string): boolean => existsSync(join(folder, "summary.json"));

/**
 * Trains with a recipe and leaves the run in the folder; a run that is there, whole, stays as it is.
 * @throws {Error} What the trainer wrote to stderr, when it fails.
 */
export function trainRecipe(recipe: Recipe, folder: string): void {
  if (isTrained(folder)) return;
  rmSync(folder, { recursive: true, force: true });
  const flags = `${flagsOf(recipe)} --out ${folder} --log ${cpuTime}:${join(folder, "cpu.ndjson")}`;
  const { status, stderr } = spawnSync(process.execPath, ["--import", "tsx", main, "train", ...flags.split(" ")], {
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (status !== 0) throw new Error(`${recipe.name}: ${stderr}`);
}
