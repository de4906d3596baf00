import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLog } from "@dflash/log-formatter";
import { spawnDflash } from "../spawnDflash.ts";
import { untilEnded } from "../untilEnded.ts";
import type { TrainSettings } from "../train/trainConfig.ts";
import { writeJson } from "../writeJson.ts";
import type { MeasuredRun } from "./stepCost.ts";

/** Steps of a run that is only measured: the first of them compiles and fills pools. */
const steps = 2;

/** A run that is only measured, and the engine that it took. */
export interface TriedRun extends MeasuredRun {
  readonly engine: string;
}

/** Trains for a few steps in a process of its own and reads its log. Throws the run's own line when it fails. */
export async function measureRun(given: TrainSettings["given"], rows: number, anchors: number): Promise<TriedRun> {
  const folder = await mkdtemp(join(tmpdir(), "dflash-doctor-"));
  const out = join(folder, "run");
  const { evalEvery: _, ...settings } = given;
  const quiet = { log: [], logFormat: "ndjson", dashboard: null, trace: null, cpuProfile: null, baseline: null };
  try {
    const config = join(folder, "config.json");
    writeJson(config, { ...settings, ...quiet, batchTokens: null, rows, anchors, steps, out });
    const child = spawnDflash(["train", "--config", config], ["ignore", "ignore", "pipe"]);
    let problem = "";
    child.stderr!.setEncoding("utf8").on("data", (text: string) => (problem += text));
    const { code, how } = await untilEnded(child);
    if (code !== 0) throw new Error(/^dflash: (.*)$/m.exec(problem)?.[1] ?? `a training run ended with ${how}`);
    return await readRun(join(out, "log.ndjson"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readRun(log: string): Promise<TriedRun> {
  let [tokens, slots, bytes, ms, engine, blockSize] = [0, 0, 0, Infinity, "", 1];
  for await (const record of readLog(log)) {
    if (record.kind === "header") {
      const config = new Map<string, unknown>(Object.entries(record.config ?? {}));
      engine = String(config.get("engine"));
      blockSize = Number(config.get("blockSize"));
    }
    if (record.kind !== "step") continue;
    tokens = Math.max(tokens, record.metrics["tokens"] ?? 0);
    slots = Math.max(slots, blockSize * (record.metrics["anchors"] ?? 0));
    bytes = Math.max(bytes, record.gauges["peak_rss_bytes"] ?? 0);
    ms = Math.min(ms, record.ms);
  }
  return { tokens, slots, bytes, ms, engine };
}
