import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
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

/** Whether the folder holds a whole run: one that was interrupted has a summary too, and CPU time that can't be gone on with. */
export function isTrained(folder: string): boolean {
  const file = join(folder, "summary.json");
  if (!existsSync(file)) return false;
  const { reason }: { reason: string } = JSON.parse(readFileSync(file, "utf8"));
  return reason === "steps";
}

/**
 * Trains with a recipe and leaves the run in the folder; a run that is there, whole, stays as it is.
 * @throws {Error} What the trainer wrote to stderr, when it fails.
 */
export function trainRecipe(recipe: Recipe, folder: string): void {
  if (isTrained(folder)) return;
  rmSync(folder, { recursive: true, force: true });
  const outputs = ["--out", folder, "--log", `${cpuTime}:${join(folder, "cpu.ndjson")}`];
  const settings = [...flagsOf(recipe).split(" "), ...outputs];
  const { status, stderr } = spawnSync(process.execPath, ["--import", "tsx", main, "train", ...settings], {
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (status !== 0) throw new Error(`${recipe.name}: ${stderr}`);
}
