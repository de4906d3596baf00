import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { listCheckpoints } from "@dflash/drafter";
import { forCaller, fromCaller } from "../callerFolder.ts";
import { checkpointsOf } from "../drafterFolder.ts";
import { checkPaths, flagOf, resolveFlags, type TrainConfig, type TrainFlags } from "./trainConfig.ts";
import { decidesNothing } from "./trainSettings.ts";

/** A run and where it begins. */
export interface RunStart {
  config: TrainConfig;
  /** From 1; a run that goes on is at its next attempt. */
  attempt: number;
  /** Folder of the checkpoint to go on from; null at the beginning. */
  checkpoint: string | null;
}

/** The run in a folder, from its newest checkpoint on. Throws one line that names a flag that would change the run. */
export async function resumeRun(path: string, flags: TrainFlags): Promise<RunStart> {
  const out = fromCaller(path);
  const saved = readConfig(out);
  const given = resolveFlags(flags, saved.maxLength);
  const before = new Map<string, unknown>(Object.entries(saved));
  for (const [name, value] of Object.entries(given)) {
    if (decidesNothing.has(name) || isDeepStrictEqual(value, before.get(name))) continue;
    throw new Error(
      `${flagOf(name)} ${String(value)}: the run in ${forCaller(out)} was started with ${String(before.get(name))}; leave it out, or start a new run with --init ${forCaller(out)}`,
    );
  }
  const config = { ...saved, ...given, out };
  checkPaths(config);
  const checkpoint = (await listCheckpoints(checkpointsOf(out))).at(-1);
  if (checkpoint !== undefined && checkpoint.state.step >= config.steps) {
    throw new Error(
      `--resume ${forCaller(out)}: all ${config.steps} steps are done; train its drafter further with --init ${forCaller(out)}`,
    );
  }
  return { config, attempt: readAttempt(out) + 1, checkpoint: checkpoint?.folder ?? null };
}

/** Where a run keeps the number of its attempt. */
export const attemptFile = (out: string): string => join(out, "attempt.json");

function readAttempt(out: string): number {
  const { attempt } = readObject(attemptFile(out));
  if (typeof attempt === "number" && Number.isInteger(attempt) && attempt > 0) return attempt;
  throw new Error(`${attemptFile(out)}: attempt is ${String(attempt)}, expected an integer from 1`);
}

function readConfig(out: string): TrainConfig {
  const path = join(out, "config.json");
  if (!existsSync(path))
    throw new Error(`--resume ${forCaller(out)}: no run here; give the folder of a run, which has a config.json`);
  const config = readObject(path);
  for (const name of ["steps", "maxLength", "checkpointEvery", "keep"])
    if (!Number.isInteger(config[name]))
      throw new Error(`${path}: ${name} is ${String(config[name])}, expected an integer, as in the config of a run`);
  // oxlint-disable-next-line no-unsafe-type-assertion -- the command's own file; checkpoints hold what it is compared with
  return config as unknown as TrainConfig;
}

function readObject(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`${path}: cannot be read (${String(error)})`, { cause: error });
  }
  if (typeof value !== "object" || value === null) throw new Error(`${path}: expected an object`);
  return { ...value };
}
