import { basename } from "node:path";
import type { StepResult, TrainRun } from "@dflash/drafter";
import type { Engine } from "@dflash/engine";
import {
  createHeaderRecord,
  createLateRecord,
  createStepRecord,
  type HeaderRecord,
  type LogEvents,
  type StepTimes,
} from "@dflash/log-formatter";
import type { ChatBatches } from "@dflash/chat-data";
import type { HiddenStateFiles, TargetForwardLoop, TargetWorkers } from "@dflash/target-forward";
import type { Timer } from "@dflash/timer";
import { observeGc } from "@dflash/timer/node";
import { watchSlowSteps } from "@dflash/timer/spans";
import { createJudge } from "@dflash/timer/verdict";
import type { EventEmitter } from "eventemitter3";
import type { Evaluator, Tau } from "./createEvaluator.ts";
import { leftOutRecords } from "./leftOut.ts";
import { observeDevice } from "./observeDevice.ts";
import { createStepClock } from "./stepClock.ts";
import type { TrainConfig } from "./trainConfig.ts";

export interface LogStepsOptions {
  run: TrainRun;
  loop: TargetForwardLoop<unknown>;
  /** Null unless the target runs in other threads. */
  workers: TargetWorkers | null;
  /** Null unless the hidden states are files. */
  files: HiddenStateFiles | null;
  batches: ChatBatches;
  timer: Timer;
  engine: Engine;
  log: EventEmitter<LogEvents>;
  config: TrainConfig;
  /** From 1; a run that goes on is at its next attempt. */
  attempt: number;
  /** Steps done in attempts before, from which this one counts on. */
  stepsBefore: number;
  /** Floating-point operations a second that the engine reaches in a plain product; null when not measured. */
  peakFlops: number | null;
  /** Null where no acceptance lengths are measured. */
  evaluator: Evaluator | null;
}

/**
 * Turns what the timer reports and the train step returns into the records of the log. The record of a step is written
 * right after it; the time that takes is the next step's section `log`. Returns a function that stops it.
 */
export function logSteps(options: LogStepsOptions): () => void {
  const { run, loop, workers, timer, log, attempt, stepsBefore } = options;
  const writing = timer.section("log", { role: "log" });
  // A step that found enough has not waited for the queue.
  const judge = createJudge(timer, {
    ready: () => (loop.queue.found < loop.queue.minReady ? loop.queue.found : null),
  });
  const stopGc = observeGc(timer);
  const { deviceClock } = options.engine;
  const stopDevice = deviceClock === null || !timer.enabled ? null : observeDevice(timer, deviceClock);
  const clock = createStepClock();
  let result: StepResult | undefined;
  let steps = 0;
  let shapes = 0;
  let cpuBefore = cpuMs();
  const leftOut = leftOutRecords();

  const write = (times: StepTimes): void => {
    if (steps === 1) log.emit("header", header(options, times));
    const cpu = cpuMs();
    // Measuring the drafter is no part of training it.
    const trainMs = times.ms - (times.sections["eval"]?.ms ?? 0);
    const metrics = { ...stepMetrics(result, trainMs, options.peakFlops), cpu_ms: cpu - cpuBefore };
    cpuBefore = cpu;
    const gauges = { ...stepGauges(options), batch_shapes: shapes };
    const verdict = timer.enabled ? judge.verdict() : null;
    const numbered = { ...times, step: stepsBefore + times.step };
    log.emit("step", createStepRecord(numbered, { attempt, metrics, gauges, verdict }));
    const data = leftOut.take();
    if (data !== null) log.emit("event", { kind: "event", step: numbered.step, name: "bad-hidden-states", data });
  };

  timer.on("report", (report) => writing.time(() => write(report.snapshot())));
  timer.on("late", (late) => log.emit("late", createLateRecord({ ...late, step: stepsBefore + late.step })));
  const stopSlow = watchSlowSteps(timer, (slow) =>
    log.emit("event", { kind: "event", step: stepsBefore + slow.step, name: "slow", data: slow }),
  );
  run.on("step", (done) => {
    steps++;
    result = done;
    if (steps === 1) timer.mark("warmup");
    if (steps === 1 && attempt > 1) timer.mark("resume");
    if (!timer.enabled) write(clock.step());
  });
  run.on("skip", ({ skipped }) => {
    timer.mark("skipped");
    log.emit("event", { kind: "event", step: stepsBefore + steps, name: "skip", data: skipped });
  });
  run.on("checkpoint", ({ step }) => {
    timer.mark("checkpoint");
    log.emit("event", { kind: "event", step, name: "checkpoint", data: null });
  });
  run.on("tau", ({ step }) => {
    timer.mark("eval");
    clock.leaveOut(options.evaluator?.latest?.ms ?? 0);
    log.emit("event", { kind: "event", step, name: "tau", data: tauData(options.evaluator?.latest ?? null) });
  });
  loop.on("batch", (batch) => (shapes = batch.shapes));
  const onCrash = (data: object): void =>
    void log.emit("event", { kind: "event", step: stepsBefore + steps, name: "worker-crash", data });
  workers?.on("crash", onCrash);
  options.files?.on("skip", ({ record, reason }) => leftOut.add(record, reason));
  return () => {
    workers?.off("crash", onCrash);
    judge.stop();
    stopGc();
    stopDevice?.();
    stopSlow();
  };
}

/** What this process has used of processors, all its threads together. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** An evaluation, and what of it a reader wants to know. */
function tauData(tau: Tau | null): unknown {
  if (tau === null) return null;
  const length = tau.pooled === null ? "unknown" : tau.pooled.toFixed(3);
  return {
    message: `acceptance length ${length} on ${tau.prompts} prompts, in ${(tau.ms / 1000).toFixed(1)} s`,
    ...tau,
  };
}

function header({ config, timer, attempt }: LogStepsOptions, { sections }: StepTimes): HeaderRecord {
  const { calibration } = timer;
  return createHeaderRecord({
    run: basename(config.out),
    attempt,
    sections: Object.entries(sections).map(([name, { parent, lane, role }]) => ({ name, parent, lane, role })),
    calibration: {
      cost_ns: calibration.costNs,
      cost_cold_ns: calibration.costColdNs,
      bias_ns: calibration.biasNs,
      resolution_ns: calibration.resolutionNs,
    },
    config,
  });
}

function stepMetrics(
  result: StepResult | undefined,
  ms: number,
  peakFlops: number | null,
): Record<string, number | null | undefined> {
  const perSecond = (amount: number | undefined): number | undefined =>
    amount === undefined ? undefined : (1000 * amount) / ms;
  const flops = perSecond(result?.flops);
  return {
    loss: result?.loss,
    accuracy: result?.rates?.accuracy,
    acceptance_length: result?.rates?.acceptanceLength,
    learning_rate: result?.learningRate,
    gradient_norm: result?.gradientNorm,
    tokens: result?.tokens,
    anchors: result?.anchors,
    tokens_per_s: perSecond(result?.tokens),
    anchors_per_s: perSecond(result?.anchors),
    flops_per_s: flops,
    // The drafter's share of what the engine could have computed in the step, the target's work left out.
    utilisation: flops !== undefined && peakFlops !== null ? flops / peakFlops : null,
    ...bySlot("accuracy", result?.rates?.accuracyBySlot),
    ...bySlot("loss", result?.rates?.lossBySlot),
  };
}

/** `loss_1`, `loss_2`, …: one figure a slot. */
function bySlot(name: string, values: readonly (number | null)[] = []): Record<string, number | null> {
  return Object.fromEntries(values.map((value, i) => [`${name}_${i + 1}`, value]));
}

function stepGauges({ engine, loop, workers, batches }: LogStepsOptions): Record<string, number | null> {
  const { tensors, bytes, heapBytes } = engine.memory();
  const { tokens, paddingTokens } = batches.counters;
  const held = workers?.memory().map((memory) => memory.bytes);
  return {
    tensors,
    tensor_bytes: bytes,
    heap_bytes: heapBytes,
    rss_bytes: process.memoryUsage.rss(),
    // Between the ends of two steps a step holds more than at either.
    peak_rss_bytes: 1024 * process.resourceUsage().maxRSS,
    // While the step computes in this thread, nothing that came meanwhile is let in.
    queue_depth: loop.queue.found,
    queue_waits: loop.queue.waits.take,
    padding_share: tokens === 0 ? null : paddingTokens / tokens,
    ...(held && { target_tensor_bytes: held.reduce((sum, each) => sum + each, 0) }),
  };
}
