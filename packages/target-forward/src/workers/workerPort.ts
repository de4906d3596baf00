import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { WorkerMessage, WorkerReply } from "./workerMessages.ts";

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
const file = new URL(import.meta.url.endsWith(".ts") ? "./targetWorker.mjs" : "./runTargetWorker.js", import.meta.url);

/** Starts a worker thread. */
export function openThread(listener: WorkerListener): WorkerPort {
  const worker = new Worker(file, { execArgv: [] });
  let reason: string | undefined;
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
    hold: (held) => (held ? worker.ref() : worker.unref()),
    async end() {
      await worker.terminate();
      await gone;
    },
  };
}

/** Starts a worker process, which sees the GPU `device` alone where one is given. */
export function openProcess(listener: WorkerListener, device: number | undefined): WorkerPort {
  const gpu = device === undefined ? {} : { CUDA_VISIBLE_DEVICES: String(device), TF_FORCE_GPU_ALLOW_GROWTH: "true" };
  const child = fork(fileURLToPath(file), { execArgv: [], serialization: "advanced", env: { ...process.env, ...gpu } });
  let reason: string | undefined;
  const gone = new Promise<void>((resolve) => {
    const leave = (why: string): void => {
      resolve();
      listener.onExit(reason ?? why);
    };
    child.on("exit", (code, signal) => leave(signal ?? `exit code ${code}`));
    child.on("error", (error) => {
      reason = error.message;
      if (child.pid === undefined) leave(reason);
    });
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- from our own file at the other end
  child.on("message", (reply) => listener.onReply(reply as WorkerReply));
  return {
    // A process that is gone can't be written to; its exit says so.
    post: (message) => void child.send(message, () => undefined),
    hold(held) {
      if (held) child.ref();
      else child.unref();
      if (held) child.channel?.ref();
      else child.channel?.unref();
    },
    async end() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
