import { join } from "node:path";
import { expect, test } from "vitest";
import { callerFolder } from "./callerFolder.ts";
import { changedSettings } from "./changedSettings.ts";

const place = (name: string): string => join(callerFolder, name);
const before = { rows: 2, engine: "wasm", buckets: null, log: ["a"], data: place("a.jsonl"), out: place("first") };

test("names what differs as flags, but not each run's own folder", () => {
  const after = { ...before, rows: 4, buckets: [64, 96], log: ["a"], data: place("b.jsonl"), out: place("second") };
  expect(changedSettings(before, after)).toEqual([
    "--rows 2 → 4",
    "--buckets unset → [64,96]",
    "--data a.jsonl → b.jsonl",
  ]);
  expect(changedSettings(before, { ...before, out: place("second"), baseline: "first" })).toEqual([]);
  expect(changedSettings({ rows: 2 }, { rows: 2, minReady: 3 })).toEqual(["--min-ready unset → 3"]);
});

test("knows nothing of a run that doesn't say its settings", () => {
  expect(changedSettings(undefined, before)).toEqual([]);
  expect(changedSettings(before, null)).toEqual([]);
});
