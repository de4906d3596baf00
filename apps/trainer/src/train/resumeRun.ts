import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { forCaller, fromCaller } from "../callerFolder.ts";
import { holdPlace, lockFile } from "../holdPlace.ts";
import type { Given } from "../settings/given.ts";
import { readConfigFile } from "../settings/readConfigFile.ts";
import { fetchTarget } from "./fetchTarget.ts";
import { newestCheckpoint } from "./newestCheckpoint.ts";
import { placeTarget } from "./placeTarget.ts";
import { readTrainSettings, toTrainConfig, type TrainConfig } from "./trainConfig.ts";
import { decidesNothing } from "./trainSettings.ts";

/** A run and where it begins. */
export interface RunStart {
  config: TrainConfig;
  /** From 1; a run that goes on is at its next attempt. */
  attempt: number;
  /** Folder of the checkpoint to go on from; null at the beginning. */
  checkpoint: string | null;
  /** Steps done by then. */
  stepsBefore: number;
}

/** The run in a folder, from its newest checkpoint on. Throws one line that names what was given and would change the run. */
export async function resumeRun(path: string, given: Given): Promise<RunStart> {
  const out = fromCaller(path);
  const file = join(out, "config.json");
  if (!existsSync(file))
    throw new Error(`--resume ${forCaller(out)}: no run here; give the folder of a run, which has a config.json`);
  if (existsSync(join(out, "model.safetensors")))
    throw new Error(
      `--resume ${forCaller(out)}: a drafter and no run; give the folder of its run, or start a new run with --init ${forCaller(out)}`,
    );
  holdPlace(`--resume ${forCaller(out)}`, lockFile(out));
  const saved = readConfigFile(file);
  const before = new Map<string, unknown>([...saved].map(([name, { value }]) => [name, value]));
  // Runs from the time when workers had to be asked for don't say it where they had none.
  const inline = { value: 0, place: file, folder: out };
  const { values } = readTrainSettings(new Map([["targetWorkers", inline], ...saved, ...given]));
  const config = toTrainConfig(values, out);
  // Nor threads: on TensorFlow, whose bits depend on them, they had as many as cores.
  config.threads ??= placeTarget({ ...config, cores: availableParallelism(), targetWorkers: 0 }).threads;
  const after = new Map<string, unknown>(Object.entries(config));
  for (const [name, { place }] of given) {
    if (decidesNothing.has(name) || isDeepStrictEqual(after.get(name), before.get(name))) continue;
    throw new Error(
      `${place} ${String(after.get(name))}: the run in ${forCaller(out)} was started with ${String(before.get(name))}; leave it out, or start a new run with --init ${forCaller(out)}`,
    );
  }
  config.target = await fetchTarget(config.target);
  const attempt = readAttempt(out) + 1;
  const checkpoint = await newestCheckpoint(out, attempt);
  // Killed between its last checkpoint and its summary, a run has only the latter left to do.
  if (checkpoint !== null && checkpoint.state.step >= config.steps && stepsOfSummary(out) >= config.steps) {
    throw new Error(
      `--resume ${forCaller(out)}: all ${config.steps} steps are done; train its drafter further with --init ${forCaller(out)}`,
    );
  }
  return { config, attempt, checkpoint: checkpoint?.folder ?? null, stepsBefore: checkpoint?.state.step ?? 0 };
}

/** Where a run keeps the number of its attempt. */
export const attemptFile = (out: string): string => join(out, "attempt.json");

/** Where a run leaves its summary, the last that it writes. */
export const summaryFile = (out: string): string => join(out, "summary.json");

/** Steps that a run's summary tells of; 0 where there is none. */
function stepsOfSummary(out: string): number {
  try {
    const summary: unknown = JSON.parse(readFileSync(summaryFile(out), "utf8"));
    return typeof summary === "object" && summary !== null && "steps" in summary ? Number(summary.steps) : 0;
  } catch {
    return 0;
  }
}

function readAttempt(out: string): number {
  const path = attemptFile(out);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(
      `${path}: cannot be read (${error instanceof Error ? error.message : String(error)}); write {"attempt": 1} there, or the attempt that the run's log ends with`,
      {
        cause: error,
      },
    );
  }
  const attempt = typeof value === "object" && value !== null && "attempt" in value ? value.attempt : undefined;
  if (typeof attempt === "number" && Number.isInteger(attempt) && attempt > 0) return attempt;
  throw new Error(`${path}: attempt is ${String(attempt)}, expected an integer from 1`);
}
