import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { compareSpeeds, measureAcceptance } from "@dflash/speculate";
import { forCaller, fromCaller } from "../callerFolder.ts";
import { defaultPrompts } from "../defaultTarget.ts";
import { makeFolder } from "../makeFolder.ts";
import { refuseToReplace } from "../refuseToReplace.ts";
import { showProgress } from "../showProgress.ts";
import { stopOnInterrupt } from "../train/stopOnInterrupt.ts";
import { writeJson } from "../writeJson.ts";
import { type EvaluationResult, evaluationTable } from "./evaluationTable.ts";
import { openPair, type PairFlags } from "./openPair.ts";
import { readPrompts } from "./readPrompts.ts";

/** What the command line may set. */
export interface EvalFlags extends PairFlags {
  drafter: string;
  data?: string;
  prompts: number;
  maxNewTokens: number;
  temperature: number;
  seed: number;
  batch: number;
  baseline: boolean;
  json?: string;
}

/** Measures what a drafter is worth to its target: prints the table, and writes it where asked to. */
export async function evaluateDrafter(flags: EvalFlags): Promise<void> {
  const file = flags.data === undefined ? defaultPrompts : fromCaller(flags.data);
  if (!existsSync(file)) throw new Error(`--data ${file}: no such file; give a JSONL file of chat records`);
  const json = flags.json === undefined ? null : fromCaller(flags.json);
  if (json !== null) {
    refuseToReplace("--json", json, '{\n  "engine": ');
    await makeFolder("--json", dirname(json));
  }
  const pair = await openPair(flags);
  const progress = showProgress();
  const interrupt = stopOnInterrupt(progress.say);
  try {
    const { drafter, ops, timer, target, tokenizer, stopIds, engine } = pair;
    if (drafter === null) throw new Error("--drafter is missing");
    const { maxNewTokens, temperature, seed, batch, baseline } = flags;
    const mostTokens = pair.maxPositions - maxNewTokens;
    const { prompts, skipped } = await readPrompts({ file, tokenizer, count: flags.prompts, mostTokens });
    const { blockSize = drafter.config.blockSize } = flags;
    const options = { ops, target, drafter, timer, stopIds, maxNewTokens, temperature, seed, blockSize };
    // What is slow once only is not the drafter's.
    const few = Math.min(maxNewTokens, 2 * blockSize);
    await compareSpeeds({ ...options, prompts: prompts.slice(0, 1), maxNewTokens: few, baseline });
    let said = 0;
    const { answers, ...speeds } = await compareSpeeds({
      ...options,
      prompts,
      batch,
      baseline,
      signal: interrupt.signal,
      onProgress(done) {
        if (done - said < prompts.length / 20) return;
        said = done;
        progress.say(`${done} of ${prompts.length} prompts answered`);
      },
    });
    progress.end();
    const result: EvaluationResult = {
      engine: engine.name,
      target: forCaller(pair.targetFolder),
      drafter: forCaller(pair.drafterFolder ?? ""),
      data: forCaller(file),
      prompts: answers.length,
      skipped,
      maxNewTokens,
      blockSize,
      temperature,
      seed,
      batch,
      acceptance: measureAcceptance(answers, blockSize),
      finished: answers.filter(({ finish }) => finish === "stop").length,
      ...speeds,
    };
    console.log(`engine     ${engine.description}`);
    for (const line of evaluationTable(result)) console.log(line);
    if (json !== null) writeJson(json, result);
    if (interrupt.signal.aborted) process.exitCode = interrupt.exitCode();
  } finally {
    progress.end();
    interrupt.release();
    pair.dispose();
  }
}
