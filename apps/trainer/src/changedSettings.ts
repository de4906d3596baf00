import { isDeepStrictEqual } from "node:util";
import { forCaller } from "./callerFolder.ts";
import { flagOf } from "./settings/field.ts";

/** Settings that every run has its own of. */
const ownOfEach: ReadonlySet<string> = new Set(["out", "baseline"]);

/** What two runs do differently, `--rows 2 → 4`; empty where one of them doesn't say its settings. */
export function changedSettings(before: unknown, after: unknown): string[] {
  if (!isSettings(before) || !isSettings(after)) return [];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !ownOfEach.has(name) && !isDeepStrictEqual(before[name], after[name]))
    .map((name) => `${flagOf(name)} ${show(before[name])} → ${show(after[name])}`);
}

function isSettings(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function show(value: unknown): string {
  if (value === null || value === undefined) return "unset";
  if (typeof value === "string") return value.startsWith("/") ? forCaller(value) : value;
  return JSON.stringify(value);
}
