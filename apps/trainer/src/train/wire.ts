import { createChatBatches, type GroupRowsOptions, loadTokenizer } from "@dflash/chat-data";
import {
  adamW,
  clipByGlobalNorm,
  createTrainStep,
  decayMatrices,
  type DFlashDrafter,
  loadCheckpoint,
  trainDrafter,
  type TrainRun,
} from "@dflash/drafter";
import type { Engine } from "@dflash/engine";
import type { LogEvents } from "@dflash/log-formatter";
import { createOps, measurePeakFlops } from "@dflash/ops";
import { createTargetForwardLoop, queuePolicy } from "@dflash/target-forward";
import { createTimer, type Timer } from "@dflash/timer";
import { observeCauses } from "@dflash/timer/causes";
import { EventEmitter } from "eventemitter3";
import { createEvaluator } from "./createEvaluator.ts";
import { createLoss } from "./createLoss.ts";
import { createSchedule } from "./createSchedule.ts";
import { drafterFor } from "./drafterFor.ts";
import { keepCheckpoints, positionOf } from "./keepCheckpoints.ts";
import { logSteps } from "./logSteps.ts";
import { maskTokenOf } from "./maskTokenOf.ts";
import { openTarget } from "./openTarget.ts";
import type { RunStart } from "./resumeRun.ts";
import { type PlacedConfig, startPlaced } from "./startPlaced.ts";
import { trackPositions } from "./trackPositions.ts";
import type { TrainConfig } from "./trainConfig.ts";
import { trainSettings } from "./trainSettings.ts";

/** A run that is ready to go. */
export interface WiredRun {
  /** With the engine that was started and the target's place. */
  config: PlacedConfig;
  engine: Engine;
  drafter: DFlashDrafter;
  timer: Timer;
  /** Chat records in the data file. */
  records: number;
  /** Emits every record of the run's log. */
  log: EventEmitter<LogEvents>;
  /** Starts training. */
  start(signal: AbortSignal): TrainRun;
  dispose(): Promise<void>;
}

/** The whole system: data → frozen target → queue → train step → timer report → log. */
export async function wire(start: RunStart): Promise<WiredRun> {
  const opened: (() => unknown)[] = [];
  const dispose = async (): Promise<void> => {
    for (let close = opened.pop(); close; close = opened.pop()) await close();
  };
  try {
    return { ...(await connect(start, (close) => opened.push(close))), dispose };
  } catch (error) {
    // What kept it from being wired is worth more than what a half of it does at its end.
    await dispose().catch(() => undefined);
    throw error;
  }
}

/** Opens one part after another; `atEnd` is told how each is closed. */
async function connect(start: RunStart, atEnd: (close: () => unknown) => unknown): Promise<Omit<WiredRun, "dispose">> {
  const from = start.checkpoint;
  const tokenizer = await loadTokenizer(start.config.target);
  const maskTokenId = maskTokenOf(start.config, tokenizer);
  const checkpoint = from === null ? null : await loadCheckpoint(from, { settings: trainSettings(start.config) });
  atEnd(() => checkpoint?.close());
  const { maxLength, onBad, seed, steps, accumulate, anchors: anchorsPerRow, anchorRule: rule } = start.config;
  const queue = queuePolicy({ capacity: start.config.queue, minReady: start.config.minReady });
  const batches = await createChatBatches({
    file: start.config.data,
    tokenizer,
    maxLength,
    onBad,
    seed,
    ...grouping(start.config),
    ...(checkpoint && { start: positionOf(checkpoint.state.carried, String(from)) }),
  });
  atEnd(() => batches.close());
  const tracked = trackPositions(batches);
  const { engine, config } = await startPlaced(start.config);
  atEnd(() => engine.dispose());
  const timer = createTimer({ lane: "drafter" });
  observeCauses(timer, engine.counters);
  timer.enabled = config.telemetry;
  const ops = createOps(engine);
  const target = await openTarget({ config, ops, timer });
  atEnd(() => target.dispose());
  const { maxPositions } = target.config;
  if (maxLength > maxPositions)
    throw new Error(
      `--max-length ${maxLength}: the target in ${config.target} has ${maxPositions} positions; give at most that`,
    );
  const drafter = await drafterFor({ target: target.config, maskTokenId, ops, timer, config, checkpoint });
  atEnd(() => drafter.dispose());
  const optimizer = [
    clipByGlobalNorm({ ops, maxNorm: config.clip }),
    adamW({ ops, learningRate: createSchedule(config), weightDecay: decayMatrices(config.weightDecay) }),
  ];
  const loss = createLoss(config);
  const { head } = target;
  const step = createTrainStep({ drafter, head, ops, timer, optimizer, loss, anchorsPerRow, rule, seed });
  atEnd(() => step.dispose());
  if (checkpoint !== null) await step.restore(checkpoint.state.counters, checkpoint.optimizerState);
  await checkpoint?.close();
  const { stepsBefore } = start;
  const { model = null } = target.states;
  const evaluator = await createEvaluator({ config, tokenizer, drafter, target: model, ops });
  atEnd(() => evaluator?.dispose());
  const checkpoints = keepCheckpoints({ config, drafter, step, batches: tracked, evaluator });
  const peakFlops = config.telemetry ? await measurePeakFlops(ops) : null;
  const log = new EventEmitter<LogEvents>();

  return {
    config,
    engine,
    drafter,
    timer,
    records: batches.records,
    log,
    start(signal) {
      const layerIds = drafter.config.targetLayerIds;
      const captureLast = config.loss === "soft-target";
      const states = { ...target.states, ...queue, batches: tracked, layerIds, captureLast };
      const layout = config.splitFeatures ? "split" : "joined";
      const loop = createTargetForwardLoop({ ...states, layout, ops, timer, signal });
      const saving = { every: config.checkpointEvery, save: checkpoints.save };
      const run = trainDrafter({
        source: loop,
        step,
        steps,
        stepsBefore,
        accumulate,
        timer,
        signal,
        checkpoint: saving,
        ...(evaluator && {
          evaluation: {
            every: config.evalEvery,
            measure: (done: number) => target.untimed(async () => evaluator.measure(done, signal)),
          },
        }),
      });
      run.on("step", checkpoints.note);
      const { workers, files } = target;
      const { attempt } = start;
      const place = { config, attempt, stepsBefore, peakFlops };
      atEnd(logSteps({ run, loop, workers, files, batches, timer, engine, log, evaluator, ...place }));
      return run;
    },
  };
}

/** How rows become batches. */
function grouping({ rows, buckets, batchTokens }: TrainConfig): GroupRowsOptions {
  if (batchTokens !== null) return { batchTokens };
  return { batchRows: rows, ...(buckets === null ? {} : { lengthBuckets: buckets }) };
}
