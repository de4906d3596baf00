import type { EngineMemory } from "@dflash/engine";
import type { HostHiddenStates } from "../hostHiddenStates.ts";
import type { CaptureOptions } from "../targetModel.ts";
import type { TokenBatch } from "../tokenBatch.ts";
import type { WireFormat, WorkerEngine, WorkerReady, WorkerReply } from "./workerMessages.ts";
import { openProcess, openThread, type WorkerPlacement, type WorkerPort } from "./workerPort.ts";

/** A batch whose hidden states were asked for. */
export interface Job {
  readonly batch: TokenBatch;
  readonly capture: CaptureOptions;
  /** Workers that ended while they computed it. */
  crashes: number;
  readonly resolve: (states: HostHiddenStates) => void;
  readonly reject: (error: unknown) => void;
}

/** How one worker is started. */
export interface TargetWorkerOptions {
  readonly module: string;
  readonly options: unknown;
  readonly engine?: WorkerEngine;
  readonly placement?: WorkerPlacement;
  readonly device: number | undefined;
  readonly wire?: WireFormat;
  readonly lane: string;
  readonly timed: boolean;
  /** Called when the worker, once it was ready, ends by itself. */
  readonly onCrash: (reason: string) => void;
  /** Ends the worker while it starts. */
  readonly signal: AbortSignal;
}

/** A worker with its model loaded. */
export interface TargetWorker {
  readonly ready: WorkerReady;
  /** Under way, oldest first: they are computed in this order. */
  readonly jobs: readonly Job[];
  /** What its engine held after the last batch. */
  readonly memory: EngineMemory;
  run(job: Job): void;
  end(): Promise<void>;
}

/** Starts a worker. @throws {Error} The one line with which its engine or its model does not start. */
export function startTargetWorker(options: TargetWorkerOptions): Promise<TargetWorker> {
  const { module, engine = {}, placement = "thread", device, wire = "float32", lane, timed, onCrash, signal } = options;
  const jobs = new Map<number, Job>();
  let memory: EngineMemory = { tensors: 0, bytes: 0, heapBytes: null };
  let ids = 0;
  let state: "starting" | "ready" | "ended" = "starting";

  return new Promise((resolve, reject) => {
    const end = (): Promise<void> => {
      state = "ended";
      signal.removeEventListener("abort", abort);
      return port.end();
    };
    const abort = (): void => {
      reject(new Error("the target workers are closed"));
      void end();
    };
    signal.addEventListener("abort", abort);
    const finish = (id: number): Job | undefined => {
      const job = jobs.get(id);
      jobs.delete(id);
      // An idle worker need not keep the process alive: whoever fails to close it must not hang.
      port.hold(jobs.size > 0);
      return job;
    };
    const onReply = (reply: WorkerReply): void => {
      if (reply.kind === "ready") {
        state = "ready";
        signal.removeEventListener("abort", abort);
        port.hold(false);
        resolve({
          ready: reply,
          get jobs() {
            return [...jobs.values()];
          },
          get memory() {
            return memory;
          },
          run(job) {
            const { batch, capture } = job;
            jobs.set(ids, job);
            port.hold(true);
            port.post({ kind: "forward", id: ids++, batch, capture });
          },
          end,
        });
      } else if (reply.kind === "states") {
        const job = finish(reply.id);
        ({ memory } = reply);
        job?.resolve({ batch: job.batch, features: reply.features, last: reply.last });
      } else if (reply.id === null) {
        reject(new Error(reply.message));
        void end();
      } else finish(reply.id)?.reject(new Error(reply.message));
    };
    const onExit = (reason: string): void => {
      const before = state;
      state = "ended";
      if (before === "starting") reject(new Error(`a target worker ended before its model was loaded (${reason})`));
      else if (before === "ready") onCrash(reason);
    };
    const listener = { onReply, onExit };
    const port: WorkerPort = placement === "process" ? openProcess(listener, device) : openThread(listener);
    port.post({ kind: "setup", module, options: options.options, engine, lane, wire, timed });
  });
}
