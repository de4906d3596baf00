import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isModelName } from "@dflash/causal-lm/hub";
import { engineNames } from "@dflash/engine";
import { resolveFormat, resolveOutput } from "@dflash/log-formatter";
import { z } from "zod";
import { defaultData, defaultTarget } from "../defaultTarget.ts";
import type { FieldGroups } from "../settings/field.ts";

const whole = (low: number, high: number): z.ZodNumber => z.int().min(low).max(high);
const between = (low: number, high: number): z.ZodNumber => z.number().min(low).max(high);
const positive = (high: number): z.ZodNumber => z.number().positive().max(high);
const path = z.string().min(1);

const steps = z
  .string()
  .regex(/^[1-9]\d{0,8}:[1-9]\d{0,8}$/)
  .meta({ title: "a range of steps such as 10:20" });

const fromFolder = (value: string, folder: string): string => resolve(folder, value);
const folderOrModel = (value: string, folder: string): string =>
  existsSync(resolve(folder, value)) || !isModelName(value) ? resolve(folder, value) : value;

const unset = "the target's";

/** Everything that can be set about a training run. A setting is added here and nowhere else. */
export const trainFieldGroups = {
  "Target and data": {
    target: {
      about: "folder of the target model in the Hugging Face layout, or owner/name on the hub",
      schema: path,
      standard: defaultTarget,
      unset: "the repository's tiny one",
      placeholder: "model",
      resolve: folderOrModel,
      // Where it lies; its size is compared.
      decidesNothing: true,
    },
    data: {
      about: "chat records, JSONL",
      schema: path,
      standard: defaultData,
      unset: "GSM8K as answered by the tiny target",
      placeholder: "file",
      resolve: fromFolder,
      // Where it lies; its size is compared.
      decidesNothing: true,
    },
    onBad: {
      about: "what to do about a record, or hidden states, that can't be used",
      schema: z.enum(["stop", "skip"]),
      standard: "stop",
      placeholder: "what",
    },
    maxLength: {
      about: "longest record in tokens; longer ones are cut",
      schema: whole(4, 1_048_576),
      standard: 512,
    },
    rows: { about: "chat records a batch", schema: whole(1, 4096), standard: 2 },
    batchTokens: {
      about: "pack records into batches of so many tokens, in place of rows",
      schema: whole(4, 16_777_216).nullable(),
      standard: null,
    },
    buckets: {
      about: "row lengths to pad to, such as 64,96,128, so that shapes come again, or auto",
      schema: z.union([z.literal("auto"), z.array(whole(4, 1_048_576)).min(1).max(1024)]).nullable(),
      standard: null,
      unset: "no padding",
      placeholder: "lengths",
    },
  },
  "Target beside the drafter": {
    targetWorkers: {
      about: "threads, or processes, that run the target beside the drafter",
      schema: whole(0, 64).nullable(),
      standard: null,
      unset: "1 with native TensorFlow on more than one core, else 0",
      decidesNothing: true,
    },
    targetDevices: {
      about: "GPU of each of them where a process holds one, with tensorflow-gpu, such as 1,2",
      schema: z.array(whole(0, 255)).min(1).max(64).nullable(),
      standard: null,
      unset: "what CUDA_VISIBLE_DEVICES shows",
      placeholder: "numbers",
      decidesNothing: true,
    },
    hiddenStates: {
      about: "train from the hidden states in a folder, which dflash capture wrote",
      schema: path.nullable(),
      standard: null,
      placeholder: "dir",
      resolve: fromFolder,
    },
    splitFeatures: {
      about: "hand features over layer by layer in place of joining them",
      schema: z.boolean(),
      standard: false,
    },
    queue: {
      about: "most batches that the target is ahead of the drafter",
      schema: whole(1, 1024),
      standard: 3,
      decidesNothing: true,
    },
    minReady: {
      about: "batches that must be ready before a step begins",
      schema: whole(1, 1024),
      standard: 1,
      decidesNothing: true,
    },
    wire: {
      about: "how hidden states travel from a worker",
      schema: z.enum(["float32", "bfloat16"]),
      standard: "float32",
      placeholder: "format",
    },
  },
  Engine: {
    engine: {
      about: "tensor engine",
      schema: z.enum(["auto", ...engineNames]),
      standard: "auto",
    },
    threads: {
      about: "threads of each engine",
      schema: whole(1, 64).nullable(),
      standard: null,
      unset: "the engine's choice; half the cores with native TensorFlow and target workers",
      // The same bits with any number of them, but on TensorFlow, where a run keeps its own unless told otherwise.
      decidesNothing: true,
    },
    matmulPrecision: {
      about: "products of the tensorflow engines; bf16 where the hardware has it",
      schema: z.enum(["fp32", "bf16"]),
      standard: "fp32",
    },
  },
  Drafter: {
    blockSize: { about: "tokens a block, anchor included", schema: whole(2, 256), standard: 8 },
    layers: { about: "decoder layers", schema: whole(1, 64), standard: 2 },
    features: { about: "target layers whose hidden states it sees", schema: whole(1, 256), standard: 5 },
    intermediateSize: { about: "width of its MLP", schema: whole(1, 1_048_576).nullable(), standard: null, unset },
    heads: { about: "attention heads", schema: whole(1, 1024).nullable(), standard: null, unset },
    kvHeads: { about: "heads of keys and values", schema: whole(1, 1024).nullable(), standard: null, unset },
    headDim: { about: "width of a head", schema: whole(2, 1024).nullable(), standard: null, unset },
    slidingWindow: {
      about: "tokens of context that all its layers but the last see",
      schema: whole(1, 1_048_576).nullable(),
      standard: null,
      unset: "all",
    },
    maskTokenId: {
      about: "token of the masked slots",
      schema: whole(0, 16_777_215).nullable(),
      standard: null,
      unset: "the tokenizer's mask token",
    },
    init: {
      about: "begin with the weights of a drafter, of a checkpoint or of a run",
      schema: path.nullable(),
      standard: null,
      unset: "random weights",
      placeholder: "dir",
      resolve: fromFolder,
    },
  },
  Training: {
    steps: { about: "training steps", schema: whole(1, 100_000_000), standard: 300 },
    accumulate: { about: "batches a step", schema: whole(1, 65_536), standard: 1 },
    anchors: { about: "anchors a record", schema: whole(1, 65_536), standard: 32 },
    anchorRule: {
      about: "which tokens may be anchors: those whose next is supervised too, or whose block ends in the record",
      schema: z.enum(["pair", "whole-block"]),
      standard: "pair",
      placeholder: "rule",
    },
    loss: {
      about: "what is learnt from",
      schema: z.enum(["decay", "d-pace", "soft-target"]),
      standard: "decay",
    },
    gamma: {
      about: "decay of the weights over a block, 0 for none",
      schema: between(0, 1e6).nullable(),
      standard: null,
      unset: "by the block size",
    },
    alpha: { about: "smoothing of D-PACE", schema: between(0, 1), standard: 0.5 },
    learningRate: { about: "peak learning rate", schema: positive(1), standard: 1e-3 },
    schedule: {
      about: "learning rate after the warm-up; wsd stays and then falls in the last fifth",
      schema: z.enum(["cosine", "linear", "constant", "wsd"]),
      standard: "cosine",
    },
    warmup: { about: "part of the steps that the learning rate rises in", schema: between(0, 1), standard: 0.04 },
    floor: { about: "learning rate at the end, as a part of the peak", schema: between(0, 1), standard: 0 },
    weightDecay: { about: "decay of the matrices", schema: between(0, 10), standard: 0 },
    clip: { about: "global gradient norm above which gradients are scaled down", schema: positive(1e9), standard: 1 },
    seed: { about: "seed of everything random", schema: whole(0, 0xffff_ffff), standard: 0 },
  },
  Evaluation: {
    evalEvery: {
      about: "steps between measurements of the real acceptance length, by speculative decoding",
      schema: whole(1, 100_000_000),
      standard: 100,
    },
    evalData: {
      about: "chat records whose questions it is measured on; they should not be in the data",
      schema: path.nullable(),
      standard: null,
      unset: "GSM8K's test problems with the default data, else nothing is measured",
      placeholder: "file",
      resolve: fromFolder,
    },
    evalPrompts: { about: "how many of them, from the first on", schema: whole(1, 1_000_000), standard: 8 },
    evalTokens: { about: "longest answer in tokens", schema: whole(1, 1_048_576), standard: 64 },
  },
  "Run and log": {
    out: {
      about: "folder of the run",
      schema: path.nullable(),
      standard: null,
      unset: "runs/<date and time>",
      placeholder: "dir",
      resolve: fromFolder,
      decidesNothing: true,
    },
    checkpointEvery: {
      about: "steps between checkpoints",
      schema: whole(1, 100_000_000),
      standard: 100,
      decidesNothing: true,
    },
    keep: {
      about: "newest checkpoints to keep, beside the best",
      schema: whole(1, 1_000_000),
      standard: 3,
      decidesNothing: true,
    },
    logFormat: {
      about: "what is printed: a built-in formatter, a file or a package",
      schema: z.string().min(1),
      standard: "pretty",
      placeholder: "format",
      resolve: resolveFormat,
      decidesNothing: true,
    },
    log: {
      about:
        "FORMAT:PLACE, a further output; PLACE is a file, stdout, stderr, a port for Prometheus or a folder for TensorBoard",
      schema: z.array(z.string().min(1)).max(64),
      standard: [],
      unset: "none",
      placeholder: "output",
      resolve: resolveOutput,
      decidesNothing: true,
    },
    baseline: {
      about: "earlier run; says while training which sections are slower than in it",
      schema: path.nullable(),
      standard: null,
      placeholder: "run",
      resolve: fromFolder,
      decidesNothing: true,
    },
    dashboard: {
      about: "port of 127.0.0.1 that shows the run while it goes on; 0 takes a free one",
      schema: whole(0, 65_535).nullable(),
      standard: null,
      placeholder: "port",
      decidesNothing: true,
    },
    trace: {
      about: "write trace.json, for Perfetto, of a range of steps such as 10:20",
      schema: steps.nullable(),
      standard: null,
      placeholder: "from:to",
      decidesNothing: true,
    },
    cpuProfile: {
      about: "write profile.cpuprofile, for Chrome's developer tools, of a range of steps such as 10:20",
      schema: steps.nullable(),
      standard: null,
      placeholder: "from:to",
      decidesNothing: true,
    },
    telemetry: {
      about: "time the sections of every step",
      schema: z.boolean(),
      standard: true,
      decidesNothing: true,
    },
  },
} satisfies FieldGroups;

/** The settings of all groups by name. */
export const trainFields = {
  ...trainFieldGroups["Target and data"],
  ...trainFieldGroups["Target beside the drafter"],
  ...trainFieldGroups.Engine,
  ...trainFieldGroups.Drafter,
  ...trainFieldGroups.Training,
  ...trainFieldGroups.Evaluation,
  ...trainFieldGroups["Run and log"],
};
