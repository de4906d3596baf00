import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CausalLM, loadCausalLM } from "@dflash/causal-lm";
import { type DFlashDrafter, loadDrafter } from "@dflash/drafter";
import { type EngineName, startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import { createTimer, type Timer } from "@dflash/timer";
import { onTestFinished } from "vitest";

/** A path of the repository. */
export const fromRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const fixtures: string = process.env["DFLASH_FIXTURES"] ?? fromRoot("fixtures");

/** Where the app has the native binding of TensorFlow. */
export const engineOptions = { threads: 1, resolveFrom: fromRoot("apps/trainer") };

/** What PyTorch generated from a prompt, speculatively and one by one. */
export interface PromptCase {
  readonly prompt_ids: readonly number[];
  readonly output_ids: readonly number[];
  readonly greedy_ids: readonly number[];
  readonly acceptance_lengths: readonly number[];
}

/** The case of speculative decoding. */
export interface SpeculationCase {
  readonly block_size: number;
  readonly max_new_tokens: number;
  readonly tau_pooled: number;
  readonly prompts: readonly PromptCase[];
}

export async function readSpeculationCase(): Promise<SpeculationCase> {
  return JSON.parse(await readFile(join(fixtures, "spec-decode.json"), "utf8"));
}

/** The tiny target, the trained drafter and what they run on; gone after the test. */
export interface TinyPair {
  readonly ops: Ops;
  readonly timer: Timer;
  readonly target: CausalLM;
  readonly drafter: DFlashDrafter;
}

export async function loadTinyPair(engineName: EngineName): Promise<TinyPair> {
  const engine = await startEngine(engineName, engineOptions);
  onTestFinished(() => engine.dispose());
  const ops = createOps(engine);
  const timer = createTimer();
  const target = await loadCausalLM(fromRoot("data/tiny-target"), { ops });
  const given = join(fixtures, "drafter-b8");
  const drafter = await loadDrafter(existsSync(given) ? given : fromRoot("fixtures/drafter-b8"), { ops, timer });
  return { ops, timer, target, drafter };
}
