import { hostname } from "node:os";
import { basename } from "node:path";
import type { StepResult, TrainRun } from "@dflash/drafter";
import type { Engine } from "@dflash/engine";
import { createStepRecord, type HeaderRecord, type LogEvents, type StepTimes } from "@dflash/log-formatter";
import type { TargetForwardLoop } from "@dflash/target-forward";
import type { Timer } from "@dflash/timer";
import type { EventEmitter } from "eventemitter3";
import type { TrainConfig } from "./trainConfig.ts";

export interface LogStepsOptions {
  run: TrainRun;
  loop: TargetForwardLoop;
  timer: Timer;
  engine: Engine;
  log: EventEmitter<LogEvents>;
  config: TrainConfig;
}

/**
 * Turns what the timer reports and the train step returns into the records of the log. The record of a step is written
 * right after it; the time that takes is the next step's section `log`.
 */
export function logSteps({ run, loop, timer, engine, log, config }: LogStepsOptions): void {
  const writing = timer.section("log");
  const untimed = stepClock();
  let result: StepResult | undefined;
  let headerWritten = false;

  const write = (snapshot: StepTimes): void => {
    if (!headerWritten) log.emit("header", header(config, snapshot));
    headerWritten = true;
    log.emit(
      "step",
      createStepRecord(snapshot, {
        metrics: metrics(result, snapshot.ms),
        gauges: gauges(engine, loop),
        tags: tags(result, snapshot),
      }),
    );
  };

  timer.on("report", (report) => writing.time(() => write(report.snapshot())));
  run.on("step", (done) => {
    result = done;
    if (!timer.enabled) write(untimed());
  });
  run.on("skip", ({ skipped }) =>
    log.emit("event", { kind: "event", step: loop.queue.depth, name: "skip", data: skipped }),
  );
}

/** Snapshots without sections, for runs without telemetry: only how long each step took. */
function stepClock(): () => StepTimes {
  const start = performance.now();
  let step = 0;
  let previous = start;
  return () => {
    const now = performance.now();
    const ms = now - previous;
    const startMs = previous - start;
    previous = now;
    step++;
    return { step, startMs, ms, residualMs: ms, overheadUs: 0, sections: {}, lanes: {} };
  };
}

function header(config: TrainConfig, { sections }: StepTimes): HeaderRecord {
  return {
    kind: "header",
    v: 1,
    run: basename(config.out),
    attempt: 1,
    rank: 0,
    host: hostname(),
    pid: process.pid,
    start: new Date().toISOString(),
    sections: Object.entries(sections).map(([name, { parent, lane, role }]) => ({ name, parent, lane, role })),
    calibration: { cost_ns: 0, cost_cold_ns: 0, bias_ns: 0, resolution_ns: 0 },
    config,
  };
}

function metrics(result: StepResult | undefined, ms: number): Record<string, number | null | undefined> {
  return {
    loss: result?.loss,
    accuracy: result?.rates?.accuracy,
    acceptance_length: result?.rates?.acceptanceLength,
    learning_rate: result?.learningRate,
    gradient_norm: result?.gradientNorm,
    tokens: result?.tokens,
    anchors: result?.anchors,
    tokens_per_s: result && (1000 * result.tokens) / ms,
  };
}

function gauges(engine: Engine, loop: TargetForwardLoop): Record<string, number | null> {
  const { tensors, bytes, heapBytes } = engine.memory();
  return {
    tensors,
    tensor_bytes: bytes,
    heap_bytes: heapBytes,
    rss_bytes: process.memoryUsage.rss(),
    queue_depth: loop.queue.depth,
  };
}

function tags(result: StepResult | undefined, { step }: StepTimes): string[] {
  return [...(step === 1 ? ["warmup"] : []), ...(result?.skipped ? ["skipped"] : [])];
}
