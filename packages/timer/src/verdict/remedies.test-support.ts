import type { Case } from "./cases.test-support.ts";
import type { Piece } from "./pipeline.test-support.ts";

/** What a verdict's advice does to a pipeline. */
export interface Remedy {
  /** Words of the advice that name the change. */
  readonly says: string;
  /** The pipeline after it. */
  readonly change: (pipeline: Case) => Case;
  /** Tokens a step, by those before; 1 unless given. */
  readonly tokens?: number;
}

const piece = (pieces: readonly Piece[], name: Piece["name"], change: Partial<Piece>): Piece[] =>
  pieces.map((each) => (each.name === name ? { ...each, ...change } : each));
const inDrafter =
  (name: string, change: Partial<Piece>): Remedy["change"] =>
  (pipeline) => ({ ...pipeline, drafter: piece(pipeline.drafter, name, change) });
const inTarget =
  (name: Piece["name"], change: Partial<Piece>): Remedy["change"] =>
  (pipeline) => ({ ...pipeline, target: piece(pipeline.target, name, change) });
const oneMoreWorker: Remedy["change"] = ({ workers = 1, ...pipeline }) => ({ ...pipeline, workers: workers + 1 });
/** Half of the passes' time, in which the host dispatches or waits. */
const halfThePasses: Remedy["change"] = (pipeline) => ({
  ...pipeline,
  drafter: pipeline.drafter.map((each) => (each.name?.endsWith("ward") ? { ...each, us: each.us / 2 } : each)),
});

/**
 * The advice of each seeded case, done: the one parameter of the pipeline that it names, and nothing else. Two cases are not here: a
 * tensor leak costs memory and no time, and to give the time in no section a name is to look before changing anything.
 */
export const remedies: Readonly<Record<string, Remedy>> = {
  // As many kernels do the work of twice the tokens: the device has been idle.
  "launch-bound: the device is idle most of the step": { says: "larger batches", change: (same) => same, tokens: 2 },
  // 1,000 kernels of 15 µs in place of 3,000.
  "launch-bound: by the engine's cost of a dispatch": {
    says: "use fused ops",
    change: (pipeline) => ({
      ...pipeline,
      drafter: piece(piece(pipeline.drafter, "forward", { us: 15_000 }), "backward", { us: 25_000 }),
      engine: () => ({ kernels: 1_000 }),
    }),
  },
  "sync-wait: a read after every kernel": {
    says: "read the loss and the metrics together",
    change: (pipeline) => ({ ...halfThePasses(pipeline), engine: () => ({ kernels: 300 }) }),
  },
  "allocator-churn: shapes keep changing": {
    says: "so that shapes repeat",
    change: (pipeline) => ({ ...pipeline, engine: (step) => ({ newShapes: step < 3 ? 4 : 0 }) }),
  },
  "packing: features are concatenated in the producer": {
    says: "don't concatenate features",
    change: inTarget("pack", { us: 2_000 }),
  },
  "packing: inline": { says: "don't concatenate features", change: inTarget("pack", { us: 2_000 }) },
  "block-mask: built element by element": {
    says: "build it from row ranges",
    change: inDrafter("mask", { us: 400 }),
  },
  "queue: minReady as high as its capacity, batches in bursts": {
    says: "lower minReady",
    change: (pipeline) => ({ ...pipeline, minReady: 1 }),
  },
  "queue: capacity of one, batches in bursts": {
    says: "raise its capacity",
    change: (pipeline) => ({ ...pipeline, capacity: 4 }),
  },
  "data-bound: in the drafter's own lane": {
    says: "prefetch",
    // It is done beside the step then.
    change: (pipeline) => ({
      ...pipeline,
      drafter: pipeline.drafter.filter(({ name }) => name !== "tokenize"),
      target: [...pipeline.target, { name: "tokenize", us: 50_000, role: "data" }],
    }),
  },
  "data-bound: in the producer": { says: "more workers", change: oneMoreWorker },
  "data-bound: files of hidden states are missing, so batch after batch is read for one that has them": {
    says: "tokenize once",
    change: inTarget("data", { us: 10_000 }),
  },
  "data-bound: read in the step's thread, about as long as it works": {
    says: "tokenize once",
    change: inTarget("data", { us: 10_000 }),
  },
  // What is faster there is the disk.
  "target-bound: files of hidden states on a slow disk": { says: "faster", change: inTarget(null, { us: 85_000 }) },
  "target-bound: one worker": { says: "give it a worker or more of them", change: oneMoreWorker },
  "target-bound: inline": { says: "give it a worker or more of them", change: oneMoreWorker },
  // A second worker alone would find the queue full: it refills one place a step.
  "target-bound: one worker, minReady as high as its capacity": {
    says: "a faster engine",
    change: inTarget("target/forward", { us: 85_000 }),
  },
  "target-bound: inline, with a high minReady": { says: "give it a worker or more of them", change: oneMoreWorker },
  "drafter-bound: a fast target": {
    says: "make its largest section faster",
    change: inDrafter("backward", { us: 20_000 }),
  },
  "drafter-bound: inline, with a high minReady": {
    says: "make its largest section faster",
    change: inDrafter("backward", { us: 20_000 }),
  },
  "drafter-bound: inline": {
    says: "make its largest section faster",
    change: inDrafter("backward", { us: 20_000 }),
  },
  "optimizer: as long as forward and backward": {
    says: "accumulate over more batches",
    change: inDrafter("optimizer", { every: 4 }),
  },
  // What was collected in backward and forward no longer is.
  "gc: a third of the step": {
    says: "reuse buffers",
    change: (pipeline) => ({
      ...pipeline,
      drafter: piece(piece(pipeline.drafter, "forward", { us: 25_000 }), "backward", { us: 18_000 }),
      late: () => ({}),
    }),
  },
  "event-loop: a server in the same thread": {
    says: "move them to a worker",
    change: (pipeline) => ({ ...pipeline, gapUs: 200, late: () => ({}) }),
  },
  "log: a slow disk": { says: "use one cheap format", change: inDrafter("log", { us: 1_000 }) },
  "checkpoint: every fifth step": { says: "less often", change: inDrafter("checkpoint", { every: 20 }) },
  "straggler: one of three workers is slow": {
    says: "look at its machine or device",
    change: (pipeline) => ({ ...pipeline, slowWorker: 1 }),
  },
  "lost-overlap: a batch is begun when it is asked for": {
    says: "prefetch",
    change: (pipeline) => ({ ...pipeline, onDemand: false }),
  },
};
