import type { EngineMemory } from "@dflash/engine";
import { createGuardedEmitter, type Timer } from "@dflash/timer";
import { attachTimer } from "@dflash/timer/lanes";
import type { HiddenStateSource, HostHiddenStates } from "../hostHiddenStates.ts";
import { startTargetWorker, type Job, type TargetWorker } from "./targetWorker.ts";
import { TargetWorkerError } from "./targetWorkerError.ts";
import type { WireFormat, WorkerEngine } from "./workerMessages.ts";
import type { WorkerPlacement } from "./workerPort.ts";

/** What the workers run, and where. */
export interface TargetWorkersOptions {
  /** Workers, each with its own engine and a copy of the weights. */
  readonly count: number;
  /** URL of a module whose default export is a `LoadTarget`, such as `import.meta.resolve("@dflash/causal-lm/target")`. */
  readonly module: string;
  /** What the module's export is called with; must be cloneable. */
  readonly options: unknown;
  /** Which engine each worker starts, and with how many threads. */
  readonly engine?: WorkerEngine;
  /** `thread` unless given; `process` for engines that hold one GPU a process. */
  readonly placement?: WorkerPlacement;
  /** GPU of each worker process; the environment's unless given. */
  readonly devices?: readonly number[];
  /** `float32` unless given; `bfloat16` halves what is moved and rounds it. */
  readonly wire?: WireFormat;
  /** The consumer's: gets a lane `target[i]` for each of the first ten workers. */
  readonly timer?: Timer;
}

/** Events of the workers with their payload. */
export interface TargetWorkerEvents {
  /** A worker ended by itself. Another takes its place, and the batches that it had are computed again. */
  crash: { worker: number; reason: string; batches: number[] };
}

/** A target in other threads or processes. */
export interface TargetWorkers extends HiddenStateSource {
  /** Decoder layers of the model. */
  readonly layers: number;
  /** H, the width of its hidden states. */
  readonly hiddenSize: number;
  /** What each worker computes with, in one line. */
  readonly engine: string;
  /** What each worker's engine held after its last batch. */
  memory(): EngineMemory[];
  /** Subscribes to an event. A listener that throws, or rejects, is reported once. */
  on<Name extends keyof TargetWorkerEvents>(
    event: Name,
    listener: (payload: TargetWorkerEvents[Name]) => unknown,
  ): TargetWorkers;
  /** Unsubscribes. */
  off<Name extends keyof TargetWorkerEvents>(
    event: Name,
    listener: (payload: TargetWorkerEvents[Name]) => unknown,
  ): TargetWorkers;
  /** Ends the workers at once. */
  close(): Promise<void>;
}

/**
 * Workers that a batch may end, and ends in a row without a batch between them. More than one, since a process that is killed
 * takes along what it had computed but not sent.
 */
const mostCrashes = 3;
/** A timer holds twelve lanes; two are the data's and the consumer's own. */
const timedWorkers = 10;

/**
 * Starts workers and loads the model in each. A batch goes to whichever has the fewest. A worker that crashes is started anew and
 * its batches are computed again, so that none is lost or comes twice; a batch that ends one worker after another rejects
 * with a {@link TargetWorkerError}.
 *
 * @throws {Error} The one line with which an engine or the model does not start; no worker is left then.
 */
export async function startTargetWorkers(options: TargetWorkersOptions): Promise<TargetWorkers> {
  const { count, timer, devices } = options;
  if (!Number.isInteger(count) || count < 1) {
    throw new RangeError(`target workers: count is ${count}, expected a whole number above 0`);
  }
  const events = createGuardedEmitter<TargetWorkerEvents>("target workers");
  /** By index; undefined while one is started anew. */
  const workers: (TargetWorker | undefined)[] = [];
  /** Jobs that no worker can take yet. */
  let waiting: Job[] = [];
  let starting = 0;
  let crashesInARow = 0;
  const closing = new AbortController();
  /** What a batch is refused with when there is no worker. */
  let gone: unknown = new Error("the target workers are closed");

  function assign(job: Job): void {
    const running = workers.filter((worker) => worker !== undefined);
    const [free] = running.toSorted((a, b) => a.jobs.length - b.jobs.length);
    if (free) free.run(job);
    else if (starting > 0) waiting.push(job);
    else job.reject(gone);
  }

  function assignWaiting(): void {
    const jobs = waiting;
    waiting = [];
    for (const job of jobs) assign(job);
  }

  async function start(index: number): Promise<TargetWorker> {
    const timed = timer !== undefined && index < timedWorkers;
    const onCrash = (reason: string): void => void replace(index, reason);
    starting++;
    try {
      const { signal } = closing;
      const place = { device: devices?.[index], lane: `target[${index}]`, timed, onCrash, signal };
      const worker = await startTargetWorker({ ...options, ...place });
      workers[index] = worker;
      return worker;
    } finally {
      starting--;
    }
  }

  function attach({ ready }: TargetWorker): void {
    if (timer && ready.timer) attachTimer(timer, ready.timer);
  }

  async function replace(index: number, reason: string): Promise<void> {
    const jobs = workers[index]?.jobs ?? [];
    workers[index] = undefined;
    events.emit("crash", { worker: index, reason, batches: jobs.map(({ batch }) => batch.index) });
    // Jobs are computed in order: the crash was the first one's.
    const [suspect] = jobs;
    const isHopeless = suspect !== undefined && ++suspect.crashes === mostCrashes;
    if (isHopeless) suspect.reject(new TargetWorkerError(suspect.batch.index, mostCrashes, reason));
    const restarted =
      ++crashesInARow > mostCrashes * count
        ? Promise.reject(new Error(`target workers ended ${crashesInARow} times in a row (the last: ${reason})`))
        : start(index);
    for (const job of isHopeless ? jobs.slice(1) : jobs) assign(job);
    try {
      attach(await restarted);
      assignWaiting();
    } catch (error) {
      if (starting > 0 || workers.some((worker) => worker !== undefined)) return;
      gone = error;
      assignWaiting();
    }
  }

  async function close(): Promise<void> {
    const jobs = workers.flatMap((worker) => worker?.jobs ?? []);
    closing.abort();
    await Promise.all(workers.splice(0).map(async (worker) => worker?.end()));
    for (const { reject } of jobs) reject(gone);
    assignWaiting();
  }

  const started = await Promise.allSettled(Array.from({ length: count }, (_, index) => start(index)));
  // In their order, so that names are the same in every run.
  for (const outcome of started) if (outcome.status === "fulfilled") attach(outcome.value);
  const failure = started.find((outcome) => outcome.status === "rejected");
  const [first] = started;
  if (failure || first?.status !== "fulfilled") {
    await close();
    throw failure?.reason;
  }
  const { layers, hiddenSize, engine } = first.value.ready;
  const pool: TargetWorkers = {
    layers,
    hiddenSize,
    engine,
    states: (batch, capture) =>
      new Promise((resolve, reject) => {
        const done = (states: HostHiddenStates): void => {
          crashesInARow = 0;
          resolve(states);
        };
        assign({ batch, capture, crashes: 0, resolve: done, reject });
      }),
    memory: () => workers.flatMap((worker) => worker?.memory ?? []),
    on(event, listener) {
      events.on(event, listener);
      return pool;
    },
    off(event, listener) {
      events.off(event, listener);
      return pool;
    },
    close,
  };
  return pool;
}
