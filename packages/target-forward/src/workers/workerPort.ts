import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { RelayData, WorkerEnd, WorkerMessage, WorkerReply } from "./workerMessages.ts";

/** Where workers run: threads of this process; or processes of their own, for engines that hold one GPU a process. */
export type WorkerPlacement = "thread" | "process";

/** A line to one worker. */
export interface WorkerPort {
  post(message: WorkerMessage): void;
  /** Whether the worker keeps this process alive. */
  hold(held: boolean): void;
  /** Ends the worker at once; resolves when it is gone. */
  end(): Promise<void>;
}

/** Whom a worker's messages and its end reach. */
export interface WorkerListener {
  onReply(reply: WorkerReply): void;
  /** The worker is gone, and why. */
  onExit(reason: string): void;
}

// From source through its loader, built as the file beside this one.
const fileOf = (name: string): URL =>
  new URL(import.meta.url.endsWith(".ts") ? `./${name}.mjs` : `./${name}.js`, import.meta.url);
const workerFile = fileOf("runTargetWorker");

/** Starts a worker thread. */
export function openThread(listener: WorkerListener): WorkerPort {
  const worker = new Worker(workerFile, { execArgv: [] });
  return openPort(worker, listener, () => void worker.terminate());
}

/** Starts a worker process, which sees the GPU `device` alone where one is given, and the thread that listens to it. */
export function openProcess(listener: WorkerListener, device: number | undefined): WorkerPort {
  const env = device === undefined ? {} : { CUDA_VISIBLE_DEVICES: String(device), TF_FORCE_GPU_ALLOW_GROWTH: "true" };
  const workerData: RelayData = { file: fileURLToPath(workerFile), env };
  const relay = new Worker(fileOf("relayTargetProcess"), { execArgv: [], workerData });
  const end: WorkerEnd = { kind: "end" };
  return openPort(relay, listener, () => relay.postMessage(end, []));
}

function openPort(worker: Worker, listener: WorkerListener, endWorker: () => void): WorkerPort {
  let reason: string | undefined;
  let ending = false;
  const gone = new Promise<void>((resolve) => {
    worker.on("exit", (code) => {
      resolve();
      listener.onExit(reason ?? `exit code ${code}`);
    });
  });
  worker.on("error", (error: Error) => (reason = error.message));
  worker.on("message", (reply: WorkerReply) => listener.onReply(reply));
  return {
    post: (message) => worker.postMessage(message, []),
    hold(held) {
      // What a worker still sends at its end must not let go of it: a process that waits for nothing else would end, with code 13.
      if (ending) return;
      if (held) worker.ref();
      else worker.unref();
    },
    async end() {
      worker.ref();
      ending = true;
      endWorker();
      await gone;
    },
  };
}
