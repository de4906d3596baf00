import { existsSync } from "node:fs";
import { join } from "node:path";
import type { EngineName } from "@dflash/engine";
import { callerFolder, fromCaller } from "../callerFolder.ts";
import { defaultData, defaultTarget } from "../defaultTarget.ts";
import { lengthBuckets } from "./lengthBuckets.ts";

/** Everything that decides a training run; written to the run's folder as `config.json`. */
export interface TrainConfig {
  /** Folder of the target model, Hugging Face layout. */
  target: string;
  /** Chat records, JSONL. */
  data: string;
  /** What to do about records that can't be read or don't fit the chat template. */
  onBad: "error" | "skip";
  /** Tensor engine, or `auto`. */
  engine: EngineName | "auto";
  /** Threads of the engine; null lets the engine choose. */
  threads: number | null;
  steps: number;
  /** Chat records a step. */
  rows: number;
  /** Longest row in tokens; longer ones are cut. */
  maxLength: number;
  /** Row lengths that rows are padded to, so that shapes come again; null pads nothing. */
  buckets: readonly number[] | null;
  /** Packs rows into batches of so many tokens, in place of `rows`; null doesn't. */
  batchTokens: number | null;
  /** Threads, or processes, that run the target beside the drafter; 0 runs it in the drafter's thread. */
  targetWorkers: number;
  /** Most batches that the target is ahead of the drafter. */
  queue: number;
  /** Batches that must be ready before a step begins. */
  minReady: number;
  /** How hidden states travel from a worker. */
  wire: "float32" | "bfloat16";
  /** Anchors a row. */
  anchors: number;
  blockSize: number;
  /** Decoder layers of the drafter. */
  layers: number;
  /** Token that stands in every slot but the anchor's; null takes the tokenizer's mask token. */
  maskTokenId: number | null;
  /** Captured target layers. */
  features: number;
  /** Peak learning rate, reached after warm-up; cosine to 0 afterwards. */
  learningRate: number;
  /** Global gradient norm above which gradients are scaled down. */
  clip: number;
  seed: number;
  /** Folder of the run. */
  out: string;
  /** Formatter of what is printed: a built-in name, a file or a package. */
  logFormat: string;
  telemetry: boolean;
}

/** What the command line may set. */
export type TrainFlags = Partial<Omit<TrainConfig, "features" | "clip" | "buckets">> & {
  buckets?: readonly number[] | "auto";
};

const defaults: Omit<TrainConfig, "out"> = {
  target: defaultTarget,
  data: defaultData,
  onBad: "error",
  engine: "auto",
  threads: null,
  steps: 300,
  rows: 2,
  maxLength: 512,
  buckets: null,
  batchTokens: null,
  targetWorkers: 0,
  queue: 3,
  minReady: 1,
  wire: "float32",
  anchors: 32,
  blockSize: 8,
  layers: 2,
  features: 5,
  maskTokenId: null,
  learningRate: 1e-3,
  clip: 1,
  seed: 0,
  logFormat: "pretty",
  telemetry: true,
};

/** A run folder named after the moment, `runs/2026-11-29-18-41-46`, with a counter when taken. */
function freeRunFolder(now: Date): string {
  const name = now.toISOString().slice(0, 19).replaceAll(/[T:]/g, "-");
  for (let attempt = 1; ; attempt++) {
    const folder = join(callerFolder, "runs", attempt === 1 ? name : `${name}-${attempt}`);
    if (!existsSync(folder)) return folder;
  }
}

/** Flags over defaults, with paths resolved from the folder that the user called from. Throws on paths that don't exist. */
export function resolveTrainConfig(flags: TrainFlags, now: Date = new Date()): TrainConfig {
  const { buckets = null } = flags;
  const config: TrainConfig = {
    ...defaults,
    ...flags,
    buckets: buckets === "auto" ? lengthBuckets(flags.maxLength ?? defaults.maxLength) : buckets,
    ...(flags.target === undefined ? {} : { target: fromCaller(flags.target) }),
    ...(flags.data === undefined ? {} : { data: fromCaller(flags.data) }),
    out: flags.out === undefined ? freeRunFolder(now) : fromCaller(flags.out),
  };
  if (!existsSync(config.target))
    throw new Error(
      `--target ${config.target}: no such folder; give a folder with config.json, model.safetensors and tokenizer.json`,
    );
  if (!existsSync(config.data))
    throw new Error(`--data ${config.data}: no such file; give a JSONL file of chat records`);
  if (existsSync(join(config.out, "log.ndjson")))
    throw new Error(`--out ${config.out}: holds a run already; choose another folder`);
  return config;
}
