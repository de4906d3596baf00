import type { Pipeline } from "./pipeline.test-support.ts";

/** A pipeline to be played with several seeds. */
export type Case = Omit<Pipeline, "seed"> & { dispatchUs?: number };

const forward = { name: "forward", us: 30_000 };
const backward = { name: "backward", us: 40_000 };
const optimizer = { name: "optimizer", us: 5_000, role: "optimizer" };
const drafter = [{ name: "mask", us: 400, role: "block-mask" }, forward, backward, optimizer];
const target = [
  { name: "load", us: 1_000, role: "data" },
  { name: "target/forward", us: 60_000 },
  { name: "pack", us: 2_000, role: "packing" },
];
const fast = [{ name: "target/forward", us: 30_000 }];
const more = (name: string, us: number, rest: { role?: string; every?: number } = {}): Pipeline["drafter"] => [
  ...drafter.filter((piece) => piece.name !== name),
  { name, us, ...rest },
];

/** Pipelines whose bottleneck was put there on purpose. */
export const seeded: Record<string, Case> = {
  "launch-bound: the device is idle most of the step": {
    drafter,
    target: fast,
    engine: () => ({ kernels: 4_000 }),
    late: () => ({ forward: { deviceMs: 4 }, backward: { deviceMs: 6 } }),
  },
  "launch-bound: by the engine's cost of a dispatch": {
    drafter,
    target: fast,
    engine: () => ({ kernels: 3_000 }),
    dispatchUs: 15,
  },
  "sync-wait: a read after every kernel": { drafter, target: fast, engine: () => ({ kernels: 300, syncMs: 34 }) },
  "allocator-churn: shapes keep changing": {
    drafter,
    target: fast,
    engine: (step) => {
      const newShapes = (step * 7) % 5;
      return { newShapes, extraUs: newShapes * 12_000 };
    },
  },
  "packing: features are concatenated in the producer": {
    drafter,
    target: [
      { name: "target/forward", us: 50_000 },
      { name: "pack", us: 60_000, role: "packing" },
    ],
  },
  "packing: inline": {
    drafter,
    target: [
      { name: "target/forward", us: 20_000 },
      { name: "pack", us: 45_000, role: "packing" },
    ],
    workers: 0,
  },
  "block-mask: built element by element": { drafter: more("mask", 45_000, { role: "block-mask" }), target: fast },
  "queue: minReady as high as its capacity, batches in bursts": {
    drafter,
    target: [{ name: "target/forward", us: 40_000 }],
    capacity: 8,
    minReady: 8,
    burst: { every: 4, factor: 4 },
  },
  "queue: capacity of one, batches in bursts": {
    drafter,
    target: [{ name: "target/forward", us: 36_000 }],
    capacity: 1,
    burst: { every: 3, factor: 4 },
  },
  "data-bound: in the drafter's own lane": { drafter: more("tokenize", 50_000, { role: "data" }), target: fast },
  "data-bound: in the producer": {
    drafter,
    target: [
      { name: "load", us: 110_000, role: "data" },
      { name: "target/forward", us: 20_000 },
    ],
  },
  "data-bound: files of hidden states are missing, so batch after batch is read for one that has them": {
    drafter,
    target: [
      { name: "data", us: 210_000, role: "data", lane: "data", overlapping: true },
      { name: null, us: 40_000 },
    ],
    workers: 0,
  },
  "data-bound: read in the step's thread, about as long as it works": {
    drafter,
    target: [
      { name: "data", us: 90_000, role: "data", lane: "data", overlapping: true },
      { name: null, us: 5_000 },
    ],
    workers: 0,
  },
  "target-bound: files of hidden states on a slow disk": {
    drafter,
    target: [
      { name: "data", us: 8_000, role: "data", lane: "data", overlapping: true },
      { name: null, us: 170_000 },
    ],
    workers: 0,
  },
  "target-bound: one worker": { drafter, target: [{ name: "target/forward", us: 170_000 }] },
  "target-bound: inline": { drafter, target: [{ name: "target/forward", us: 190_000 }], workers: 0 },
  "target-bound: one worker, minReady as high as its capacity": {
    drafter,
    target: [{ name: "target/forward", us: 170_000 }],
    capacity: 3,
    minReady: 3,
  },
  "target-bound: inline, with a high minReady": {
    drafter,
    target: [{ name: "target/forward", us: 190_000 }],
    workers: 0,
    minReady: 3,
  },
  "drafter-bound: a fast target": { drafter, target: fast },
  "drafter-bound: inline, with a high minReady": {
    drafter,
    target: [{ name: "target/forward", us: 20_000 }],
    workers: 0,
    minReady: 3,
  },
  "drafter-bound: inline": { drafter, target: [{ name: "target/forward", us: 20_000 }], workers: 0 },
  "optimizer: as long as forward and backward": {
    drafter: more("optimizer", 75_000, { role: "optimizer" }),
    target: fast,
  },
  "gc: a third of the step": { drafter, target: fast, late: () => ({ backward: { gcMs: 22 }, forward: { gcMs: 5 } }) },
  "event-loop: a server in the same thread": {
    drafter,
    target: fast,
    gapUs: 30_000,
    late: () => ({ "queue/wait": { stallMs: 30 } }),
  },
  "log: a slow disk": { drafter: more("log", 20_000, { role: "log" }), target: fast },
  "checkpoint: every fifth step": {
    drafter: more("checkpoint", 180_000, { role: "checkpoint", every: 5 }),
    target: fast,
  },
  "straggler: one of three workers is slow": {
    drafter,
    target: [{ name: "target/forward", us: 120_000 }],
    workers: 3,
    slowWorker: 3.5,
    capacity: 6,
  },
  "lost-overlap: a batch is begun when it is asked for": {
    drafter,
    target: [{ name: "target/forward", us: 65_000 }],
    onDemand: true,
  },
  "tensor-leak: three tensors a step": { drafter, target: fast, engine: () => ({ tensors: 3 }) },
  "residual: most of the step in no section": {
    drafter: [{ name: "forward", us: 20_000 }],
    target: fast,
    gapUs: 60_000,
  },
};

/** Pipelines without one. */
export const balanced: Record<string, Case> = {
  "both lanes busy": { drafter, target: [{ name: "target/forward", us: 74_000 }] },
  "both lanes busy, parts as they should be": {
    drafter,
    target: [...target.slice(0, 1), { name: "target/forward", us: 70_000 }, ...target.slice(2)],
  },
  inline: { drafter, target: [{ name: "target/forward", us: 72_000 }], workers: 0 },
  "two workers, each half as fast": {
    drafter,
    target: [{ name: "target/forward", us: 146_000 }],
    workers: 2,
    capacity: 6,
  },
  "much jitter": { drafter, target: [{ name: "target/forward", us: 70_000 }], jitter: 0.25, capacity: 8 },
  "a little of everything": {
    drafter: [
      ...drafter,
      { name: "log", us: 1_500, role: "log" },
      { name: "checkpoint", us: 20_000, role: "checkpoint", every: 10 },
    ],
    target: [{ name: "target/forward", us: 76_000 }],
    engine: (step) => ({ kernels: 500, syncMs: 4, newShapes: step < 3 ? 4 : 0 }),
    late: () => ({ backward: { gcMs: 2, deviceMs: 36 }, forward: { gcMs: 1, deviceMs: 27 } }),
  },
};

/** Runs whose shapes are new at first and settle, as every run's are, or cost nothing. */
export const settling: Record<string, Case> = {
  "four steps, each with fewer new shapes": {
    drafter,
    target: fast,
    steps: 4,
    engine: (step) => ({ newShapes: [40, 12, 6, 3][step]!, extraUs: [400_000, 90_000, 40_000, 25_000][step]! }),
  },
  "four steps, each with as many": {
    drafter,
    target: fast,
    steps: 4,
    engine: (step) => ({ newShapes: 12 - step, extraUs: 200_000 - 50_000 * step }),
  },
  "twelve steps of the first shapes": {
    drafter,
    target: fast,
    steps: 12,
    engine: (step) => ({ newShapes: 20 >> step, extraUs: (20 >> step) * 15_000 }),
  },
  "length buckets that fill within twenty steps": {
    drafter,
    target: fast,
    engine: (step) => {
      const newShapes = step < 20 && step % (1 + (step >> 2)) === 0 ? 4 : 0;
      return { newShapes, extraUs: newShapes * 10_000 };
    },
  },
  "an evaluation with shapes of its own, among steps with some that cost nothing": {
    drafter,
    target: fast,
    steps: 32,
    engine: (step) =>
      step === 20 ? { newShapes: 118, extraUs: 6_000_000, mark: "eval" } : { newShapes: (step * 7) % 5 },
  },
};

/** An engine and observers whose figures can't be true. */
export const absurd: Case = {
  drafter,
  target: fast,
  engine: (step) => ({ kernels: 90_000, syncMs: 900, newShapes: (step * 7) % 5, extraUs: ((step * 7) % 5) * 400_000 }),
  late: () => ({ backward: { gcMs: 800 }, "queue/wait": { stallMs: 700 } }),
  dispatchUs: 40,
};
