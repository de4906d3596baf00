import { availableParallelism } from "node:os";
import { type CausalLMConfig, loadCausalLM, loadTargetHead, readCausalLMConfig } from "@dflash/causal-lm";
import type { Ops } from "@dflash/ops";
import {
  type HiddenStateSource,
  startTargetWorkers,
  type TargetHead,
  type TargetModel,
  type TargetWorkers,
} from "@dflash/target-forward";
import type { Timer } from "@dflash/timer";
import type { TrainConfig } from "./trainConfig.ts";

/** The frozen target as a run uses it. */
export interface OpenTarget {
  readonly config: CausalLMConfig;
  /** Shared with the drafter, on its engine. */
  readonly head: TargetHead;
  /** Where hidden states come from: this thread or others. */
  readonly states: { readonly model: TargetModel } | { readonly source: HiddenStateSource };
  /** Null when the target runs in this thread. */
  readonly workers: TargetWorkers | null;
  dispose(): Promise<void>;
}

export interface OpenTargetOptions {
  readonly config: TrainConfig;
  /** The drafter's. */
  readonly ops: Ops;
  readonly timer: Timer;
}

/** Loads the target in this thread, or its head here and the whole of it in each worker. */
export async function openTarget({ config, ops, timer }: OpenTargetOptions): Promise<OpenTarget> {
  if (config.targetWorkers === 0) {
    const model = await loadCausalLM(config.target, { ops, timer });
    return {
      config: model.config,
      head: model.head,
      states: { model },
      workers: null,
      dispose: async () => model.dispose(),
    };
  }
  const head = await loadTargetHead(config.target, { ops });
  const { name } = ops.engine;
  const workers = await startTargetWorkers({
    count: config.targetWorkers,
    module: import.meta.resolve("@dflash/causal-lm/target"),
    options: config.target,
    engine: { name, threads: engineThreads(config) ?? 1 },
    // One process can hold one GPU only.
    placement: name === "tensorflow-gpu" ? "process" : "thread",
    wire: config.wire,
    ...(config.telemetry ? { timer } : {}),
  });
  return {
    config: await readCausalLMConfig(config.target),
    head,
    states: { source: workers },
    workers,
    async dispose() {
      await workers.close();
      head.dispose();
    },
  };
}

/** Threads of each engine, so that target workers and drafter together take the cores; undefined lets the one engine choose. */
export function engineThreads({ threads, targetWorkers }: TrainConfig): number | undefined {
  if (threads !== null) return threads;
  return targetWorkers === 0 ? undefined : Math.max(1, Math.floor(availableParallelism() / (targetWorkers + 1)));
}
