import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AnchorRule, Loss } from "@dflash/drafter";
import type { EngineName, MatmulPrecision } from "@dflash/engine";
import { callerFolder, fromCaller } from "../callerFolder.ts";
import { defaultData, defaultTarget } from "../defaultTarget.ts";
import { drafterFolder, readDrafterConfig } from "../drafterFolder.ts";
import { lengthBuckets } from "./lengthBuckets.ts";

/** Everything that decides a training run; written to the run's folder as `config.json`. */
export interface TrainConfig {
  /** Folder of the target model, Hugging Face layout. */
  target: string;
  /** Chat records, JSONL. */
  data: string;
  /** What to do about records that can't be read or don't fit the chat template, and about hidden states that are no good. */
  onBad: "error" | "skip";
  /** Tensor engine, or `auto`. */
  engine: EngineName | "auto";
  /** Threads of the engine; null lets the engine choose. */
  threads: number | null;
  /** In what the `tensorflow` engines multiply matrices. */
  matmulPrecision: MatmulPrecision;
  /** Folder of the drafter whose weights the run begins with; null begins with random ones. */
  init: string | null;
  steps: number;
  /** Chat records a batch. */
  rows: number;
  /** Batches a step. */
  accumulate: number;
  /** Longest row in tokens; longer ones are cut. */
  maxLength: number;
  /** Row lengths that rows are padded to, so that shapes come again; null pads nothing. */
  buckets: readonly number[] | null;
  /** Packs rows into batches of so many tokens, in place of `rows`; null doesn't. */
  batchTokens: number | null;
  /** Threads, or processes, that run the target beside the drafter; 0 runs it in the drafter's thread. */
  targetWorkers: number;
  /** Folder of hidden states, one file a record of the data, that the target need not compute; null computes them. */
  hiddenStates: string | null;
  /** Hand features over layer by layer, for the drafter to project one by one, in place of joining them. */
  splitFeatures: boolean;
  /** Most batches that the target is ahead of the drafter. */
  queue: number;
  /** Batches that must be ready before a step begins. */
  minReady: number;
  /** How hidden states travel from a worker. */
  wire: "float32" | "bfloat16";
  /** Anchors a row. */
  anchors: number;
  /** Which supervised tokens may be anchors. */
  anchorRule: AnchorRule;
  blockSize: number;
  /** Decoder layers of the drafter. */
  layers: number;
  /** Token that stands in every slot but the anchor's; null takes the tokenizer's mask token. */
  maskTokenId: number | null;
  /** Captured target layers. */
  features: number;
  loss: Loss["type"];
  /** γ by which weights fall over a block, 0 for equal ones; null for the block size's own. */
  gamma: number | null;
  /** α of D-PACE. */
  alpha: number;
  /** Peak learning rate, reached after the warm-up. */
  learningRate: number;
  /** What the learning rate does after the warm-up; `wsd` stays and then falls in the last fifth. */
  schedule: "cosine" | "linear" | "constant" | "wsd";
  /** Part of the steps that the learning rate rises in. */
  warmup: number;
  /** Learning rate at the end, as a part of the peak. */
  floor: number;
  /** Of matrices; norms have none. */
  weightDecay: number;
  /** Global gradient norm above which gradients are scaled down. */
  clip: number;
  seed: number;
  /** Steps between checkpoints. */
  checkpointEvery: number;
  /** Newest checkpoints that are kept, beside the best one. */
  keep: number;
  /** Folder of the run. */
  out: string;
  /** Formatter of what is printed: a built-in name, a file or a package. */
  logFormat: string;
  /** Where else the log goes, each as `FORMAT:PLACE`. */
  log: readonly string[];
  /** Run that each step is compared with while this one goes on; null compares with none. */
  baseline: string | null;
  telemetry: boolean;
}

/** What the command line may set. */
export type TrainFlags = Partial<Omit<TrainConfig, "features" | "buckets">> & {
  buckets?: readonly number[] | "auto";
};

const defaults: Omit<TrainConfig, "out"> = {
  target: defaultTarget,
  data: defaultData,
  onBad: "error",
  engine: "auto",
  threads: null,
  matmulPrecision: "fp32",
  init: null,
  steps: 300,
  rows: 2,
  accumulate: 1,
  maxLength: 512,
  buckets: null,
  batchTokens: null,
  targetWorkers: 0,
  hiddenStates: null,
  splitFeatures: false,
  queue: 3,
  minReady: 1,
  wire: "float32",
  anchors: 32,
  anchorRule: "pair",
  blockSize: 8,
  layers: 2,
  features: 5,
  maskTokenId: null,
  loss: "decay",
  gamma: null,
  alpha: 0.5,
  learningRate: 1e-3,
  schedule: "cosine",
  warmup: 0.04,
  floor: 0,
  weightDecay: 0,
  clip: 1,
  seed: 0,
  checkpointEvery: 100,
  keep: 3,
  logFormat: "pretty",
  log: [],
  baseline: null,
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

/** What flags say, with paths resolved from the folder that the user called from and lengths in numbers. */
export function resolveFlags(flags: TrainFlags, maxLength: number = defaults.maxLength): Partial<TrainConfig> {
  const { buckets, ...resolved } = flags;
  for (const name of ["target", "data", "hiddenStates", "init", "out", "baseline"] as const) {
    const path = resolved[name];
    if (typeof path === "string") resolved[name] = fromCaller(path);
  }
  if (buckets === undefined) return resolved;
  return { ...resolved, buckets: buckets === "auto" ? lengthBuckets(flags.maxLength ?? maxLength) : buckets };
}

/** Throws one line when the target, the data or the hidden states aren't there. */
export function checkPaths({ target, data, hiddenStates }: TrainConfig): void {
  if (!existsSync(target))
    throw new Error(
      `--target ${target}: no such folder; give a folder with config.json, model.safetensors and tokenizer.json`,
    );
  if (!existsSync(data)) throw new Error(`--data ${data}: no such file; give a JSONL file of chat records`);
  if (hiddenStates && !existsSync(hiddenStates))
    throw new Error(`--hidden-states ${hiddenStates}: no such folder; write them with dflash capture`);
}

/** A flag as it is written: `--block-size` for `blockSize`. */
export const flagOf = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The config of a new run: flags over defaults. Throws on paths that don't exist, and on a folder that is taken. */
export async function resolveTrainConfig(flags: TrainFlags, now: Date = new Date()): Promise<TrainConfig> {
  const given = resolveFlags(flags);
  const config: TrainConfig = { ...defaults, ...given, out: given.out ?? freeRunFolder(now) };
  checkPaths(config);
  if (["log.ndjson", "config.json"].some((name) => existsSync(join(config.out, name))))
    throw new Error(`--out ${config.out}: holds a run already; choose another folder, or go on with it by --resume`);
  return config.init === null ? config : { ...config, ...(await shapeOf(config.init, flags)) };
}

/** A drafter that is trained further keeps its shape. */
async function shapeOf(path: string, flags: TrainFlags): Promise<Partial<TrainConfig>> {
  const init = await drafterFolder(path);
  const { layers, blockSize, maskTokenId, targetLayerIds } = await readDrafterConfig(init);
  const shape = { layers, blockSize, maskTokenId };
  for (const name of ["layers", "blockSize", "maskTokenId"] as const) {
    if (flags[name] === undefined || flags[name] === shape[name]) continue;
    throw new Error(
      `${flagOf(name)} ${flags[name]}: the drafter in ${init} has ${shape[name]}; leave it out, or leave out --init`,
    );
  }
  return { ...shape, init, features: targetLayerIds.length };
}
