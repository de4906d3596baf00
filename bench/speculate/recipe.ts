/**
 * Trains by the recipe and prints, as Markdown, the acceptance length on the first 100 test prompts, or as many as `--prompts` says.
 * Other arguments are flags of `dflash train`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../apps/trainer/src/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "recipe-"));
const out = join(folder, "run");

function dflash(...args: string[]): void {
  const { status } = spawnSync(process.execPath, ["--import", "tsx", main, ...args], { stdio: "inherit" });
  if (status !== 0) throw new Error(`dflash ${args[0]} ended with exit code ${status}`);
}

const flags = process.argv.slice(2);
const at = flags.indexOf("--prompts");
const prompts = at < 0 ? "100" : flags.splice(at, 2)[1]!;
const recipe = ["--rows", "32", "--anchors", "64", "--gamma", "4"];
dflash("train", "--steps", "300", ...recipe, ...flags, "--out", out);
const asked = ["--prompts", prompts, "--max-new-tokens", "128", "--batch", "16", "--no-baseline"];
dflash("eval", "--drafter", join(out, "drafter"), ...asked);
rmSync(folder, { recursive: true });
