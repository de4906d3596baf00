import { createChatBatches, type GroupRowsOptions, loadTokenizer } from "@dflash/chat-data";
import {
  adamW,
  clipByGlobalNorm,
  createTrainStep,
  type DFlashDrafter,
  trainDrafter,
  type TrainRun,
  warmupCosine,
} from "@dflash/drafter";
import { type Engine, startEngine } from "@dflash/engine";
import type { LogEvents } from "@dflash/log-formatter";
import { createOps } from "@dflash/ops";
import { createTargetForwardLoop, queuePolicy } from "@dflash/target-forward";
import { createTimer } from "@dflash/timer";
import { EventEmitter } from "eventemitter3";
import { drafterFor } from "./drafterFor.ts";
import { logSteps } from "./logSteps.ts";
import { engineThreads, openTarget } from "./openTarget.ts";
import type { TrainConfig } from "./trainConfig.ts";

/** A run that is ready to go. */
export interface WiredRun {
  engine: Engine;
  drafter: DFlashDrafter;
  /** Chat records in the data file. */
  records: number;
  /** Emits every record of the run's log. */
  log: EventEmitter<LogEvents>;
  /** Starts training. */
  start(signal: AbortSignal): TrainRun;
  dispose(): Promise<void>;
}

/** The whole system: data → frozen target → queue → train step → timer report → log. */
export async function wire(config: TrainConfig): Promise<WiredRun> {
  const tokenizer = await loadTokenizer(config.target);
  const { maxLength, onBad, seed, steps, anchors: anchorsPerRow } = config;
  const queue = queuePolicy({ capacity: config.queue, minReady: config.minReady });
  const batches = await createChatBatches({
    file: config.data,
    tokenizer,
    maxLength,
    onBad,
    seed,
    ...grouping(config),
  });
  const threads = engineThreads(config);
  const engine = await startEngine(config.engine, threads === undefined ? {} : { threads });
  const timer = createTimer({ lane: "drafter", probe: engine.counters });
  timer.enabled = config.telemetry;
  const ops = createOps(engine);
  const target = await openTarget({ config, ops, timer });
  const drafter = await drafterFor({ target: target.config, maskTokenId: tokenizer.maskTokenId, ops, timer, config });
  const optimizer = [
    clipByGlobalNorm({ ops, maxNorm: config.clip }),
    adamW({ ops, learningRate: warmupCosine({ peak: config.learningRate, steps }) }),
  ];
  const step = createTrainStep({ drafter, head: target.head, ops, timer, optimizer, anchorsPerRow, seed });
  const log = new EventEmitter<LogEvents>();
  let stopLog: (() => void) | undefined;

  return {
    engine,
    drafter,
    records: batches.records,
    log,
    start(signal) {
      const layerIds = drafter.config.targetLayerIds;
      const loop = createTargetForwardLoop({ ...target.states, ...queue, batches, layerIds, ops, timer, signal });
      const run = trainDrafter({ source: loop, step, steps, timer, signal });
      stopLog = logSteps({ run, loop, workers: target.workers, batches, timer, engine, log, config });
      return run;
    },
    async dispose() {
      stopLog?.();
      step.dispose();
      drafter.dispose();
      await target.dispose();
      await batches.close();
      engine.dispose();
    },
  };
}

/** How rows become batches. */
function grouping({ rows, buckets, batchTokens }: TrainConfig): GroupRowsOptions {
  if (batchTokens !== null) return { batchTokens };
  return { batchRows: rows, ...(buckets === null ? {} : { lengthBuckets: buckets }) };
}
