import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { EngineName } from "@dflash/engine";
import { readLog, type StepRecord } from "@dflash/log-formatter";
import { written, type Settings } from "./settings.ts";

/** What a run came to. */
export interface Run {
  /** Its folder. */
  readonly folder: string;
  readonly tokensPerSecond: number;
  readonly msPerStep: number;
  /** Of the last step, which looks back on those before it. */
  readonly verdict: NonNullable<StepRecord["verdict"]>;
  /** Milliseconds a step by section, those of workers together. */
  readonly sections: ReadonlyMap<string, number>;
  /** Milliseconds a step in which the drafter's lane did something itself. */
  readonly drafterMs: number;
  /** Milliseconds a step in which the lanes of the target did something, together; and the part of that beside the drafter. */
  readonly targetMs: number;
  readonly besideMs: number;
  /** Token counts that batches had: each makes new shapes. */
  readonly shapes: number;
  /** Part of the tokens that were padding. */
  readonly padding: number;
  /** Other work on the machine when it began. */
  readonly load: number;
}

/** What is run, and how long. */
export interface TrainingOptions {
  readonly engine: EngineName;
  readonly steps: number;
}

const main = fileURLToPath(new URL("../../apps/trainer/src/main.ts", import.meta.url));
/** The first steps compile and fill the queue. */
const unsettled = 5;

/** Runs the command line. @throws {Error} What it wrote to stderr, when it fails. */
export function dflash(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", main, ...args], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`dflash ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Trains with the settings and leaves the run in the folder; a run that is there, whole, is only read. */
export async function runTraining(settings: Settings, options: TrainingOptions, folder: string): Promise<Run> {
  const loadFile = join(folder, "load.txt");
  if (!existsSync(loadFile)) {
    rmSync(folder, { recursive: true, force: true });
    const load = loadavg()[0]!;
    const flags = written(settings).split(" ");
    const [engine, steps] = [options.engine, String(options.steps)];
    dflash("train", "--engine", engine, "--steps", steps, ...flags, "--out", folder);
    writeFileSync(loadFile, String(load));
  }
  const records: StepRecord[] = [];
  for await (const record of readLog(join(folder, "log.ndjson"))) if (record.kind === "step") records.push(record);
  return { folder, load: Number(readFileSync(loadFile, "utf8")), ...summarize(records) };
}

function summarize(records: readonly StepRecord[]): Omit<Run, "folder" | "load"> {
  const counted = records.slice(unsettled);
  const mean = (of: (record: StepRecord) => number): number =>
    counted.reduce((sum, record) => sum + of(record), 0) / counted.length;
  const names = new Set(counted.flatMap((record) => Object.keys(record.sections)));
  const sections = new Map<string, number>();
  for (const name of names) {
    const [shared = name] = name.split("@");
    sections.set(shared, (sections.get(shared) ?? 0) + mean((record) => record.sections[name]?.ms ?? 0));
  }
  const target = (of: (lane: StepRecord["lanes"][string]) => number): number =>
    mean(({ lanes }) =>
      Object.entries(lanes).reduce((sum, [name, lane]) => sum + (name.startsWith("target") ? of(lane) : 0), 0),
    );
  const msPerStep = mean(({ ms }) => ms);
  // What padding holds is no work done.
  const { padding_share: padding, batch_shapes: shapes } = records.at(-1)!.gauges;
  return {
    shapes: shapes ?? 0,
    padding: padding ?? 0,
    msPerStep,
    tokensPerSecond: (1000 * (1 - (padding ?? 0)) * mean(({ metrics }) => metrics["tokens"] ?? 0)) / msPerStep,
    verdict: records.at(-1)!.verdict!,
    sections,
    drafterMs: mean(({ lanes }) => lanes["drafter"]!.busy_ms),
    targetMs: target(({ busy_ms: busy }) => busy ?? 0),
    besideMs: target(({ busy_ms: busy, overlap }) => (busy ?? 0) * (overlap ?? 0)),
  };
}
