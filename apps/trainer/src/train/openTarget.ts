import {
  type CausalLM,
  type CausalLMConfig,
  loadCausalLM,
  loadTargetHead,
  readCausalLMConfig,
} from "@dflash/causal-lm";
import type { Ops } from "@dflash/ops";
import {
  type HiddenStateFiles,
  type HiddenStateSource,
  openHiddenStateFiles,
  startTargetWorkers,
  type TargetHead,
  type TargetWorkers,
} from "@dflash/target-forward";
import type { Timer } from "@dflash/timer";
import type { TargetPlacement } from "./placeTarget.ts";
import { timedApart } from "./timedApart.ts";
import type { TrainConfig } from "./trainConfig.ts";

/** The frozen target as a run uses it. */
export interface OpenTarget {
  readonly config: CausalLMConfig;
  /** Shared with the drafter, on its engine. */
  readonly head: TargetHead;
  /** Where hidden states come from: this thread, others, or files. */
  readonly states: { readonly model: CausalLM } | { readonly source: HiddenStateSource; readonly model?: never };
  /** Null unless the target runs in other threads. */
  readonly workers: TargetWorkers | null;
  /** Null unless the hidden states are files. */
  readonly files: HiddenStateFiles | null;
  /** Does some work within which the target's sections are not timed: an evaluation's are no part of a training step's. */
  readonly untimed: <T>(work: () => Promise<T>) => Promise<T>;
  dispose(): Promise<void>;
}

const asIs = <T>(work: () => Promise<T>): Promise<T> => work();

export interface OpenTargetOptions {
  readonly config: TrainConfig & TargetPlacement;
  /** The drafter's. */
  readonly ops: Ops;
  readonly timer: Timer;
}

/** Loads the target in this thread; or its head here, and the whole of it in each worker, or nothing more when its hidden states are files. */
export async function openTarget({ config, ops, timer }: OpenTargetOptions): Promise<OpenTarget> {
  const { target, targetWorkers, targetDevices, hiddenStates, onBad } = config;
  if (targetWorkers === 0 && hiddenStates === null) {
    const { timer: own, untimed } = timedApart(timer);
    const model = await loadCausalLM(target, { ops, timer: own });
    const { head } = model;
    const dispose = async (): Promise<void> => model.dispose();
    return { config: model.config, head, states: { model }, workers: null, files: null, untimed, dispose };
  }
  const shape = await readCausalLMConfig(target);
  const head = await loadTargetHead(target, { ops });
  if (hiddenStates !== null) {
    const files = openHiddenStateFiles({ dir: hiddenStates, hiddenSize: shape.hiddenSize, onBad });
    const dispose = async (): Promise<void> => head.dispose();
    return { config: shape, head, states: { source: files }, workers: null, files, untimed: asIs, dispose };
  }
  const { name } = ops.engine;
  const workers = await startTargetWorkers({
    count: targetWorkers,
    module: import.meta.resolve("@dflash/causal-lm/target"),
    options: target,
    engine: {
      name,
      threads: config.threads ?? workerThreads(ops.engine.threads, targetWorkers),
      resolveFrom: import.meta.dirname,
    },
    // One process can hold one GPU only.
    placement: name === "tensorflow-gpu" ? "process" : "thread",
    ...(targetDevices === null ? {} : { devices: targetDevices }),
    wire: config.wire,
    ...(config.telemetry ? { timer } : {}),
  });
  const dispose = async (): Promise<void> => {
    await workers.close();
    head.dispose();
  };
  return { config: shape, head, states: { source: workers }, workers, files: null, untimed: asIs, dispose };
}

/**
 * Threads of a worker's engine beside a drafter's of so many: the workers take the same cores as the drafter, all together, and the
 * system gives each lane what the others leave. Cores that were shared out beforehand would idle in the lane that has less to do.
 */
export function workerThreads(drafterThreads: number, targetWorkers: number): number {
  return Math.max(1, Math.floor(drafterThreads / targetWorkers));
}
