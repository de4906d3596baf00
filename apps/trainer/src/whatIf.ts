import { availableParallelism } from "node:os";
import type { HeaderRecord, SectionRecord, StepRecord } from "@dflash/log-formatter";
import { type BatchTimes, type PipelineReplay, type PipelineSettings, replayPipeline } from "@dflash/target-forward";
import { workerThreads } from "./train/openTarget.ts";

/** What of a run may be asked about: where its log has it, between which whole numbers it lies, and what it is unless given. */
const asked: Readonly<Record<string, { key: string; low: number; high: number; standard: number }>> = {
  "target-workers": { key: "targetWorkers", low: 0, high: 64, standard: 0 },
  queue: { key: "queue", low: 1, high: 1024, standard: 3 },
  "min-ready": { key: "minReady", low: 1, high: 1024, standard: 1 },
  cores: { key: "cores", low: 1, high: 1024, standard: availableParallelism() },
};

/** Changes to a run: `target-workers=1,queue=8`. Throws one line that says what may be changed, and between which numbers. */
export function parseWhatIf(text: string): Map<string, number> {
  const changes = new Map<string, number>();
  for (const part of text.split(",")) {
    const [, name = "", value = ""] = /^([a-z-]+)=(\d+)$/.exec(part) ?? [];
    if (!Object.hasOwn(asked, name))
      throw new Error(
        `--what-if ${part}: expected ${Object.keys(asked).join("=N, ")}=N with whole numbers, separated by commas`,
      );
    if (!mayBe(name, Number(value)))
      throw new Error(`--what-if ${part}: expected a whole number from ${asked[name]!.low} to ${asked[name]!.high}`);
    if (changes.has(name)) throw new Error(`--what-if ${part}: ${name} is given twice; give it once`);
    changes.set(name, Number(value));
  }
  return changes;
}

/** Whether a setting that may be asked about can have a value. */
export function mayBe(name: string, value: unknown): value is number {
  const { low, high } = asked[name]!;
  return typeof value === "number" && Number.isInteger(value) && value >= low && value <= high;
}

/** A setting of a recorded run that may be asked about; what it is unless given, where the log has none that can be. */
export function recordedSetting(config: unknown, name: string): number {
  const { key, standard } = asked[name]!;
  const value = new Map<string, unknown>(Object.entries(config ?? {})).get(key);
  return mayBe(name, value) ? value : standard;
}

/** A run as it was, as the replay of its own settings has it, and as it would be. */
export interface WhatIf {
  readonly recorded: { readonly ms: number; readonly tokensPerSecond: number };
  /** How far the replay is to be trusted: its figures for the run itself. */
  readonly replayed: PipelineReplay;
  readonly predicted: PipelineReplay;
  readonly steps: number;
}

/** A run's settings as a replay has them, and the threads that its lanes would have. */
interface Plan {
  readonly pipeline: Omit<PipelineSettings, "targetCores" | "drafterCores">;
  readonly targetThreads: number;
  readonly drafterThreads: number;
}

/**
 * Replays a run's steps, the first one aside, under other settings. Threads are shared out as a run would. How many cores a busy lane
 * needs is measured: threads that wait for one another leave some of theirs to the lane beside it.
 */
export function whatIf(
  { config }: Pick<HeaderRecord, "config">,
  records: readonly StepRecord[],
  changes: ReadonlyMap<string, number>,
): WhatIf {
  const steps = records.filter(({ tags }) => !tags.includes("warmup"));
  if (steps.length === 0) throw new Error("what-if: the log holds no step besides the first");
  const [before, after] = [planOf(config, new Map()), planOf(config, changes)];
  const times = batchTimes(steps, before.pipeline.workers > 0);
  const cores = coresInUse(steps);
  const target = inThreads(cores ?? before.targetThreads, before.targetThreads, after.targetThreads);
  const drafter = inThreads(cores ?? before.drafterThreads, before.drafterThreads, after.drafterThreads);
  const scaled = times.map(({ targetMs, drafterMs, ...rest }) => ({
    ...rest,
    targetMs: targetMs * target.slower,
    drafterMs: drafterMs * drafter.slower,
  }));
  const wholeMs = steps.reduce((sum, step) => sum + trainingMs(step), 0);
  const tokens = times.reduce((sum, batch) => sum + batch.tokens, 0);
  const asItWas = { targetCores: target.before, drafterCores: drafter.before };
  const asItWouldBe = { targetCores: target.after, drafterCores: drafter.after };
  return {
    recorded: { ms: wholeMs, tokensPerSecond: (1000 * tokens) / wholeMs },
    replayed: replayPipeline(times, { ...before.pipeline, ...asItWas }),
    predicted: replayPipeline(scaled, { ...after.pipeline, ...asItWouldBe }),
    steps: steps.length,
  };
}

/** The cores that a busy lane keeps busy, on the average; null in a log that doesn't tell the processor's time. */
function coresInUse(steps: readonly StepRecord[]): number | null {
  const cpuMs = steps.reduce((sum, { metrics }) => sum + (metrics["cpu_ms"] ?? NaN), 0);
  // An older log has none.
  if (!(cpuMs > 0)) return null;
  const busyMs = steps.reduce(
    (sum, { lanes }) => sum + Object.values(lanes).reduce((total, lane) => total + lane.busy_ms, 0),
    0,
  );
  return busyMs > 0 ? cpuMs / busyMs : null;
}

/** A lane that kept so many cores busy with `from` threads, in `to`: the same work, on no more cores than threads; more threads are all taken to help. */
function inThreads(cores: number, from: number, to: number): { before: number; after: number; slower: number } {
  const slower = to < from ? Math.max(1, cores / to) : from / to;
  return { before: cores, after: cores / slower, slower };
}

/** For a reader. */
export function whatIfLines({ recorded, replayed, predicted, steps }: WhatIf, changes: string): string[] {
  const gain = 100 * (predicted.tokensPerSecond / replayed.tokensPerSecond - 1);
  const waited = Object.entries(predicted.waits).filter(([, waitMs]) => waitMs > 0);
  const shares = waited.map(([what, waitMs]) => `${((100 * waitMs) / predicted.ms).toFixed(1)} % for ${what}`);
  const line = (name: string, total: number, rate: number): string =>
    `${name.padEnd(11)}${(total / steps).toFixed(1)} ms a step, ${rate.toFixed(0)} tokens/s`;
  return [
    line("recorded", recorded.ms, recorded.tokensPerSecond),
    line("replayed", replayed.ms, replayed.tokensPerSecond),
    `${line("predicted", predicted.ms, predicted.tokensPerSecond)} (${gain < 0 ? "" : "+"}${gain.toFixed(1)} %) with ${changes}`,
    `verdict    ${predicted.bottleneck}-bound${shares.length > 0 ? `; the drafter waits ${shares.join(", ")}` : ""}`,
  ];
}

function planOf(config: unknown, changes: ReadonlyMap<string, number>): Plan {
  const setting = (name: string): number => changes.get(name) ?? recordedSetting(config, name);
  const [workers, cores] = [setting("target-workers"), setting("cores")];
  const given = new Map<string, unknown>(Object.entries(config ?? {})).get("threads");
  const drafterThreads = typeof given === "number" ? given : cores;
  return {
    pipeline: { workers, cores, capacity: setting("queue"), minReady: setting("min-ready") },
    targetThreads: workers === 0 || typeof given === "number" ? drafterThreads : workerThreads(drafterThreads, workers),
    drafterThreads,
  };
}

const ms = (section: SectionRecord | undefined): number => section?.ms ?? 0;
/** Measuring the drafter is no part of training it. */
const trainingMs = (step: StepRecord): number => step.ms - ms(step.sections["eval"]);
const isTarget = (name: string): boolean => /^target\/(forward|pack|hand-over)(@|$)/.test(name);

/** Beside the drafter the target is busy with later batches than the step's: only what it takes on the whole is known. */
function batchTimes(steps: readonly StepRecord[], beside: boolean): BatchTimes[] {
  const times = steps.map((step) => {
    const { sections, metrics } = step;
    return {
      dataMs: ms(sections["data"]),
      targetMs: Object.entries(sections).reduce((sum, [name, section]) => sum + (isTarget(name) ? ms(section) : 0), 0),
      drafterMs: trainingMs(step) - ms(sections["queue/wait"]) + ms(sections["queue/receive"]),
      tokens: metrics["tokens"] ?? 0,
    };
  });
  if (!beside) return times;
  const mean = times.reduce((sum, { targetMs }) => sum + targetMs, 0) / times.length;
  return times.map((batch) => ({ ...batch, targetMs: mean }));
}
