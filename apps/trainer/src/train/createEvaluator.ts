import { loadCausalLM } from "@dflash/causal-lm";
import type { ChatTokenizer } from "@dflash/chat-data";
import { createDrafter, type DFlashDrafter } from "@dflash/drafter";
import type { Ops } from "@dflash/ops";
import { type Acceptance, generate, measureAcceptance } from "@dflash/speculate";
import type { CachedTargetModel } from "@dflash/target-forward";
import { createTimer } from "@dflash/timer";
import { readPrompts } from "../speculate/readPrompts.ts";
import type { TrainConfig } from "./trainConfig.ts";

/** What an evaluation found. */
export interface Tau extends Acceptance {
  /** Steps done. */
  readonly step: number;
  readonly prompts: number;
  /** Wall time of the evaluation. */
  readonly ms: number;
}

/** Measures how much of a drafter's proposals its target accepts. */
export interface Evaluator {
  /** The newest evaluation. */
  readonly latest: Tau | null;
  /** Measures, and gives the pooled acceptance length; null when the signal came first, which leaves the latest as it was. */
  readonly measure: (step: number, signal: AbortSignal) => Promise<number | null>;
  /** The pooled acceptance length after a step, if it was measured then. */
  readonly lengthAt: (step: number) => number | null;
  dispose(): void;
}

export interface EvaluatorOptions {
  readonly config: TrainConfig;
  readonly tokenizer: ChatTokenizer;
  readonly drafter: DFlashDrafter;
  /** Null loads another one, where the run's is elsewhere. */
  readonly target: CachedTargetModel | null;
  readonly ops: Ops;
}

/** Reads the prompts; null for a run that measures nothing, because it has no prompts or is too short. */
export async function createEvaluator(options: EvaluatorOptions): Promise<Evaluator | null> {
  const { config, tokenizer, drafter, ops } = options;
  if (config.evalData === null || config.evalEvery > config.steps) return null;
  const mostTokens = drafter.config.maxPositions - config.evalTokens;
  const { prompts } = await readPrompts({ file: config.evalData, tokenizer, count: config.evalPrompts, mostTokens });
  const own = options.target === null ? await loadCausalLM(config.target, { ops }) : null;
  const target = own ?? options.target!;
  // Not the run's: the sections of a training step stay the training's.
  const timer = createTimer();
  const stopIds = tokenizer.eosTokenId === undefined ? [] : [tokenizer.eosTokenId];
  const generation = { ops, target, prompts, stopIds, timer, maxNewTokens: config.evalTokens, batch: prompts.length };
  let latest: Tau | null = null;
  return {
    get latest() {
      return latest;
    },
    async measure(step, signal) {
      const start = performance.now();
      const { parameters } = drafter;
      const snapshot = await createDrafter({
        ops,
        config: drafter.config,
        timer,
        weights: async (name) => Float32Array.from(await parameters.get(name)!.read()),
      });
      try {
        const answers = await generate({ ...generation, drafter: snapshot, signal });
        if (signal.aborted) return null;
        const acceptance = measureAcceptance(answers, drafter.config.blockSize);
        latest = { step, prompts: prompts.length, ...acceptance, ms: performance.now() - start };
        return latest.pooled;
      } finally {
        snapshot.dispose();
      }
    },
    lengthAt: (step) => (latest?.step === step ? latest.pooled : null),
    dispose: () => own?.dispose(),
  };
}
