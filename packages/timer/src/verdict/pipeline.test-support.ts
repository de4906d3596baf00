import { observeCauses } from "../causes/observeCauses.ts";
import { overlapLanes } from "../lanes/overlapLanes.ts";
import { attachTimer } from "../lanes/attachTimer.ts";
import { shareTimer } from "../lanes/shareTimer.ts";
import { createTimer } from "../createTimer.ts";
import type { CauseProbe } from "../causes/causeProbe.ts";
import type { LateColumns } from "../report.ts";
import type { Token } from "../section.ts";
import type { Timer } from "../timer.ts";
import type { JudgedStep } from "./judgedStep.ts";

/** A section and how long a run of it takes, µs. */
export interface Piece {
  /** Null is time in no section. */
  name: string | null;
  us: number;
  role?: string;
  /** In place of its maker's lane. */
  lane?: string;
  /** Runs by tokens, as async work does. */
  overlapping?: boolean;
  /** Every n-th time only. */
  every?: number;
}

/** A training pipeline to be played on a virtual clock. */
export interface Pipeline {
  seed: number;
  steps?: number;
  /** What the drafter does in a step. */
  drafter: Piece[];
  /** What makes one batch. */
  target: Piece[];
  /** Producers; 0 runs the target inside the drafter's wait, or reads its files there. */
  workers?: number;
  capacity?: number;
  minReady?: number;
  /** A batch is begun when the drafter asks for it. */
  onDemand?: boolean;
  /** Relative spread of every piece. */
  jitter?: number;
  /** Slows one producer down. */
  slowWorker?: number;
  /** Every n-th batch takes this many times as long. */
  burst?: { every: number; factor: number };
  /** Time in no section, µs. */
  gapUs?: number;
  /** What the engine did in a step, given its number, and how the step is marked; and what came late. */
  engine?: (step: number) => {
    kernels?: number;
    newShapes?: number;
    tensors?: number;
    syncMs?: number;
    extraUs?: number;
    mark?: string;
  };
  late?: (step: number) => Record<string, LateColumns>;
}

interface Boundary {
  us: number;
  act: () => void;
}

/** Plays a pipeline with a bounded queue, delivered in order, through a real timer, and returns what a judge would see. */
export function playPipeline(pipeline: Pipeline): JudgedStep[] {
  const {
    steps = 40,
    drafter,
    target,
    workers = 1,
    capacity = 4,
    minReady = 1,
    onDemand = false,
    jitter = 0.05,
    slowWorker = 1,
    burst,
    gapUs = 200,
  } = pipeline;
  const random = mulberry32(pipeline.seed);
  const spread = (us: number): number => Math.round(us * (1 + jitter * (2 * random() - 1)));
  let nowUs = 1_000;
  const totals = { kernels: 0, newBytes: 0, newShapes: 0, tensors: 100, syncMs: 0 };
  const probe: CauseProbe | undefined = pipeline.engine ? totals : undefined;
  const clock = (): bigint => BigInt(nowUs) * 1000n;
  const timer = createTimer({ lane: "drafter", clock });
  overlapLanes(timer);
  if (probe) observeCauses(timer, probe);
  const judged: JudgedStep[] = [];
  let ready = 0;
  timer.on("report", (report) =>
    judged.push({ report: report.snapshot(), ready, ...(pipeline.late ? { late: pipeline.late(report.step) } : {}) }),
  );

  const lanes = Array.from({ length: Math.max(1, workers) }, (_, worker) =>
    workers > 1 ? `target[${worker}]` : "target",
  );
  /** Workers have timers of their own. */
  const timers = lanes.map((lane) => (workers === 0 ? timer : createTimer({ lane, clock, shared: true })));
  const boundaries: Boundary[] = [];
  const at = (us: number, act: () => void): void => void boundaries.push({ us, act });
  const run = (on: Timer, lane: string, pieces: Piece[], from: number, turn: number, factor = 1): number => {
    let us = from;
    for (const piece of pieces) {
      if (turn % (piece.every ?? 1) !== 0) continue;
      const start = us;
      us += spread(piece.us * factor);
      if (piece.name === null) continue;
      const section = on.section(piece.name, {
        lane: piece.lane ?? lane,
        ...(piece.role ? { role: piece.role } : {}),
      });
      if (piece.overlapping) {
        let token: Token | undefined;
        at(start, () => (token = section.begin()));
        at(us, () => token!.end());
        continue;
      }
      at(start, () => section.start());
      at(us, () => section.stop());
    }
    return us;
  };

  const wait = timer.section("queue/wait", { role: "wait", waitsFor: "target" });
  // Files that are read have no lane.
  const isModel = target.some(({ name, lane }) => name !== null && lane === undefined);
  const full = (isModel ? timers : []).map((worker, i) =>
    worker.section("queue/full", { lane: lanes[i]!, role: "wait", waitsFor: "drafter" }),
  );
  const taken: number[] = [];
  const done: number[] = [];
  const workerFree = lanes.map(() => nowUs);
  const stepBoundaries: { start: number; end: number; ready: number }[] = [];
  let free = nowUs;
  /** Makes batch `i`; its producer may have to wait for a place in the queue. */
  const produce = (i: number, asked: number): void => {
    const worker = i % lanes.length;
    const from = workerFree[worker]!;
    const place = onDemand ? from : Math.max(from, taken[i - capacity] ?? 0);
    if (place > from) {
      at(from, () => full[worker]!.start());
      at(place, () => full[worker]!.stop());
    }
    const begin = onDemand ? Math.max(place, asked) : place;
    const factor = (worker === 0 ? slowWorker : 1) * (burst && i % burst.every === 0 ? burst.factor : 1);
    workerFree[worker] = run(timers[worker]!, lanes[worker]!, target, begin, i, factor);
    done[i] = Math.max(workerFree[worker], done[i - 1] ?? 0);
  };

  for (let step = 0; step < steps; step += 1) {
    const start = free;
    at(start, () => wait.start());
    let got: number;
    if (workers === 0) {
      got = run(timer, "target", target, start + 5, step) + 5;
      // Only one batch is made while the drafter waits: the others are ready.
      stepBoundaries.push({ start, end: 0, ready: step === 0 ? 0 : minReady - 1 });
    } else {
      while (done.length < step + minReady) produce(done.length, start);
      got = Math.max(start, done[step + minReady - 1]!);
      stepBoundaries.push({
        start,
        end: 0,
        ready: got > start ? done.filter((us, i) => i >= step && us <= start).length : 0,
      });
    }
    at(got, () => wait.stop());
    taken[step] = got;
    const engine = pipeline.engine?.(step) ?? {};
    const end = run(timer, "drafter", drafter, got, step) + spread(gapUs) + (engine.extraUs ?? 0);
    at(end - 1, () => {
      totals.kernels += engine.kernels ?? 0;
      totals.newShapes += engine.newShapes ?? 0;
      totals.tensors += engine.tensors ?? 0;
      totals.syncMs += engine.syncMs ?? 0;
      if (engine.mark !== undefined) timer.mark(engine.mark);
    });
    stepBoundaries[step]!.end = end;
    free = end;
  }

  if (workers > 0) for (const worker of timers) attachTimer(timer, shareTimer(worker));
  const ordered = boundaries
    .map((boundary, order) => ({ ...boundary, order }))
    .toSorted((a, b) => a.us - b.us || a.order - b.order);
  let next = 0;
  for (const step of stepBoundaries) {
    nowUs = step.start;
    timer.step(() => {
      for (; next < ordered.length && ordered[next]!.us < step.end; next += 1) {
        nowUs = ordered[next]!.us;
        ordered[next]!.act();
      }
      nowUs = step.end;
      ready = step.ready;
    });
  }
  return judged;
}

/** A small seeded generator of numbers in [0, 1). */
export function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
