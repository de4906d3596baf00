import { loadCausalLM } from "@dflash/causal-lm";
import { createChatBatches, loadTokenizer } from "@dflash/chat-data";
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
import { createTargetForwardLoop } from "@dflash/target-forward";
import { createTimer } from "@dflash/timer";
import { EventEmitter } from "eventemitter3";
import { drafterFor } from "./drafterFor.ts";
import { logSteps } from "./logSteps.ts";
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
  const { rows: batchRows, maxLength, onBad, seed, steps, anchors: anchorsPerRow } = config;
  const batches = await createChatBatches({ file: config.data, tokenizer, batchRows, maxLength, onBad, seed });
  const engine = await startEngine(config.engine, config.threads === null ? {} : { threads: config.threads });
  const timer = createTimer({ lane: "drafter", probe: engine.counters });
  timer.enabled = config.telemetry;
  const ops = createOps(engine);
  const model = await loadCausalLM(config.target, { ops, timer });
  const drafter = await drafterFor({ model, maskTokenId: tokenizer.maskTokenId, ops, timer, config });
  const optimizer = [
    clipByGlobalNorm({ ops, maxNorm: config.clip }),
    adamW({ ops, learningRate: warmupCosine({ peak: config.learningRate, steps }) }),
  ];
  const step = createTrainStep({ drafter, head: model.head, ops, timer, optimizer, anchorsPerRow, seed });
  const log = new EventEmitter<LogEvents>();
  let stopLog = (): void => {};

  return {
    engine,
    drafter,
    records: batches.records,
    log,
    start(signal) {
      const layerIds = drafter.config.targetLayerIds;
      const loop = createTargetForwardLoop({ model, batches, layerIds, ops, timer, signal });
      const run = trainDrafter({ source: loop, step, steps, timer, signal });
      stopLog = logSteps({ run, loop, timer, engine, log, config });
      return run;
    },
    async dispose() {
      stopLog();
      step.dispose();
      drafter.dispose();
      model.dispose();
      await batches.close();
      engine.dispose();
    },
  };
}
