import { rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { saveDrafter } from "@dflash/drafter";
import { attachLog, createSummary, type LogRecord, watchBaseline } from "@dflash/log-formatter";
import { forCaller } from "../callerFolder.ts";
import { changedSettings } from "../changedSettings.ts";
import { earlierRecords } from "../earlierRecords.ts";
import { endOnSignal } from "../endOnSignal.ts";
import { holdPlace, lockFile } from "../holdPlace.ts";
import { judgementLines } from "../judgementLines.ts";
import { makeFolder } from "../makeFolder.ts";
import { readRunTimes } from "../readRunTimes.ts";
import { collectRun } from "../report/collectRun.ts";
import type { Given } from "../settings/given.ts";
import { writeJson } from "../writeJson.ts";
import { openOutputs } from "./openOutputs.ts";
import { attemptFile, resumeRun, type RunStart, summaryFile } from "./resumeRun.ts";
import { runTotals } from "./runTotals.ts";
import { stopOnInterrupt } from "./stopOnInterrupt.ts";
import { stepRange, type StepRange } from "./stepRange.ts";
import { newTrainConfig, readTrainSettings } from "./trainConfig.ts";
import { tellEarlyEnd } from "./tellEarlyEnd.ts";
import { wire, type WiredRun } from "./wire.ts";
import { withRemedy } from "./withRemedy.ts";
import { writeCpuProfile } from "./writeCpuProfile.ts";

/** Trains as the given settings say and leaves config, log, checkpoints, drafter and summary in the run's folder. */
export async function runTraining(given: Given, resume?: string): Promise<void> {
  const giveSignalsBack = endOnSignal();
  const start = resume === undefined ? await newRun(given) : await resumeRun(resume, given);
  const baseline = start.config.baseline === null ? null : await readRunTimes(start.config.baseline);
  const watch = baseline && watchBaseline(baseline.times);
  const { say, outputs, dashboard, close } = await openOutputs(start);
  const run = await openRun(start).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const { config } = run;
  for (const line of introduction(run)) say(line);
  if (dashboard !== null) say(`look at  ${dashboard}`);
  const differing = baseline ? changedSettings(baseline.config, config) : [];
  if (differing.length > 0) say(`baseline settings differ: ${differing.join(", ")}`);
  if (start.attempt > 1) say(`resume   attempt ${start.attempt}, from step ${start.stepsBefore}`);

  const summary = createSummary();
  const totals = runTotals();
  const collector = collectRun();
  const take = (record: LogRecord): void => {
    if (record.kind === "step") summary.add(record);
    totals.add(record);
    collector.add(record);
  };
  if (start.attempt > 1) await takeEarlier(start, take, say);
  // Before a formatter of the user's own sees the record, which it could change.
  for (const kind of ["header", "step", "event"] as const) run.log.on(kind, take);
  const log = attachLog(run.log, outputs());
  // What a step tells comes after its line.
  run.log.on("step", (record) => {
    for (const event of watch?.(record) ?? []) run.log.emit("event", event);
  });

  const profiled = profileSome(run, start.stepsBefore, say);
  giveSignalsBack();
  const interrupt = stopOnInterrupt(say);
  const isOver = tellEarlyEnd(config.out);
  let failure: Error | null = null;
  try {
    const training = run.start(interrupt.signal);
    const { reason, steps } = await training.finished;
    const record = summary.record();
    if (record !== null) run.log.emit("summary", record);
    await log.close();
    await saveDrafter(join(config.out, "drafter"), run.drafter);
    const judgement = collector.data()?.judgement ?? null;
    const result = {
      reason,
      attempt: start.attempt,
      steps,
      engine: run.engine.name,
      ...totals.result(),
      verdict: judgement && { cause: judgement.cause, share: judgement.share, confidence: judgement.confidence },
      sections: record?.sections ?? {},
    };
    writeJson(summaryFile(config.out), result);
    for (const line of totals.lines()) say(line);
    if (profiled !== null && steps < profiled.to)
      say(
        `no CPU profile: the run ended after step ${steps}, --cpu-profile ${config.cpuProfile} wants step ${profiled.to}`,
      );
    for (const line of config.telemetry ? judgementLines(judgement) : []) say(line);
    say(`drafter, log and summary are in ${forCaller(config.out)}`);
    if (reason === "signal") {
      say(`go on with: pnpm dflash train --resume ${forCaller(config.out)}`);
      process.exitCode = interrupt.exitCode();
    }
    if (reason === "non-finite")
      throw new Error(
        `step ${steps}: stopped after several steps in a row that weren't finite; the log's skip events name the tensors; the last checkpoint holds the weights before them`,
      );
  } catch (error) {
    failure = await withRemedy(error, config.out);
    throw failure;
  } finally {
    await log.close();
    // Without a step there is nothing to go on with, and the folder can be had again.
    if (failure !== null && start.attempt === 1 && summary.record() === null)
      for (const name of ["config.json", "attempt.json", "log.ndjson"])
        await rm(join(config.out, name), { force: true });
    interrupt.release();
    isOver();
    // An engine that ran out of memory may not come apart cleanly; what ended the run is worth more.
    await run.dispose().catch((error: unknown) => {
      throw failure ?? error;
    });
  }
}

/** Has what the attempts before have logged taken in, so that what is told at the end is told of the whole run. */
async function takeEarlier(
  { config: { out }, stepsBefore }: RunStart,
  take: (record: LogRecord) => void,
  say: (line: string) => void,
): Promise<void> {
  try {
    for await (const record of earlierRecords(join(out, "log.ndjson"), stepsBefore)) take(record);
  } catch (error) {
    say(`the summary will lack steps of earlier attempts: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A run that is ready to go, its folder made and marked as one. */
async function openRun(start: RunStart): Promise<WiredRun> {
  const { out } = start.config;
  await makeFolder("--out", out);
  // A run that goes on holds its folder from before it was read.
  const release = start.attempt === 1 ? await holdNew(out) : null;
  let run: WiredRun | undefined;
  try {
    run = await wire(start);
    // The config comes last: with it the folder is a run that can be gone on with.
    writeJson(attemptFile(out), { attempt: start.attempt });
    writeJson(join(out, "config.json"), run.config);
    return run;
  } catch (error) {
    await run?.dispose();
    release?.();
    throw run ? await withRemedy(error, out) : error;
  }
}

async function holdNew(out: string): Promise<() => void> {
  try {
    return holdPlace(`--out ${forCaller(out)}`, lockFile(out));
  } catch (error) {
    // Only what is empty goes.
    await rmdir(out).catch(() => undefined);
    throw await withRemedy(error, out);
  }
}

/** Profiles the steps that `--cpu-profile` names, if any, and gives them. */
function profileSome({ config, timer }: WiredRun, stepsBefore: number, say: (line: string) => void): StepRange | null {
  const range = config.cpuProfile === null ? null : stepRange(config.cpuProfile);
  if (range === null) return null;
  const path = join(config.out, "profile.cpuprofile");
  writeCpuProfile({ timer, range, stepsBefore, path, say }).catch((error: unknown) =>
    say(`--cpu-profile ${config.cpuProfile}: ${String(error)}`),
  );
  return range;
}

async function newRun(given: Given): Promise<RunStart> {
  return { config: await newTrainConfig(readTrainSettings(given)), attempt: 1, checkpoint: null, stepsBefore: 0 };
}

function introduction({ config, engine, drafter, records }: WiredRun): string[] {
  const parameters = [...drafter.parameters.values()].reduce(
    (sum, { shape }) => sum + shape.reduce((product, extent) => product * extent, 1),
    0,
  );
  const { layers, blockSize, targetLayers, targetLayerIds } = drafter.config;
  const { targetWorkers: workers, hiddenStates } = config;
  const beside =
    workers > 0 && hiddenStates === null ? `, by ${workers} worker${workers === 1 ? "" : "s"} beside the drafter` : "";
  return [
    `engine   ${engine.description}`,
    `target   ${forCaller(config.target)}: ${targetLayers} layers, of which ${targetLayerIds.join(", ")} are captured${beside}`,
    `drafter  ${layers} layers, blocks of ${blockSize}, ${(parameters / 1e6).toFixed(2)} M parameters`,
    `data     ${forCaller(config.data)}: ${records} records, ${config.rows} a step with up to ${config.anchors} anchors each`,
  ];
}
