import { basename } from "node:path";
import { jsonObject, refuseField } from "../config/fieldChecks.ts";
import type { StepCounters } from "../training/trainStep.ts";

/** What a checkpoint says besides its tensors; the content of its `training.json`. */
export interface TrainingState {
  /** Of this format. */
  readonly version: 1;
  /** Steps done, skipped ones included. */
  readonly step: number;
  /** What the step counts over the whole run. */
  readonly counters: StepCounters;
  /** What the best checkpoint is chosen by, the higher the better; null when nothing was measured. */
  readonly score: number | null;
  /** What decides how training goes; a run that goes on from here must have the same. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** CRC-32 of the checkpoint's other files by their names; of none in one of an earlier version. */
  readonly checksums: Readonly<Record<string, string>>;
  /** The caller's own state, such as its place in the data; JSON. */
  readonly carried: unknown;
}

/** @throws {Error} One line that names the place, the field, its value and what was expected. */
export function parseTrainingState(json: unknown, place: string): TrainingState {
  const file = jsonObject(json, place, "the file");
  const counters = jsonObject(file["counters"], place, "counters");
  const { version, score } = file;
  if (version !== 1) refuseField(place, "version", version, "1; it was written by another version of this package");
  if (score !== null && typeof score !== "number") refuseField(place, "score", score, "a number or null");
  return {
    version,
    step: count(file["step"], place, "step"),
    counters: {
      updates: count(counters["updates"], place, "counters.updates"),
      skippedInARow: count(counters["skippedInARow"], place, "counters.skippedInARow"),
    },
    score,
    settings: jsonObject(file["settings"], place, "settings"),
    checksums: checksums(file["checksums"] ?? {}, place),
    carried: file["carried"],
  };
}

function count(value: unknown, place: string, field: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  return refuseField(place, field, value, "an integer of at least 0");
}

function checksums(value: unknown, place: string): Record<string, string> {
  const sums: Record<string, string> = {};
  for (const [name, sum] of Object.entries(jsonObject(value, place, "checksums"))) {
    if (typeof sum !== "string" || basename(name) !== name)
      refuseField(place, `checksums.${name}`, sum, "the checksum of a file beside it");
    sums[name] = sum;
  }
  return sums;
}
