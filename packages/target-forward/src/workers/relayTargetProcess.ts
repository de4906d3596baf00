import { fork } from "node:child_process";
import { parentPort, workerData } from "node:worker_threads";
import { receiveTimer } from "@dflash/timer/lanes";
import { type HostMatrix, hostBuffers } from "../hostHiddenStates.ts";
import {
  boundaryPipe,
  type ProcessReply,
  type RelayData,
  type WorkerEnd,
  type WorkerMessage,
  type WorkerReply,
} from "./workerMessages.ts";

/**
 * Runs in a thread between the consumer's, which may be busy for a whole step, and a worker process: hidden states and the times of
 * the worker's sections come in when they are sent. Seen from the consumer it is a worker thread that ends as the process ends.
 */
function relayTargetProcess({ file, env }: RelayData): void {
  const child = fork(file, {
    execArgv: [],
    serialization: "advanced",
    env: { ...process.env, ...env },
    stdio: ["inherit", "inherit", "inherit", "ipc", "pipe"],
    // Not in the terminal's group: Ctrl-C is for the consumer, which saves first. On Windows it would have a window.
    detached: process.platform !== "win32",
  });
  // An error that is thrown here is the reason that the consumer hears.
  child.on("error", (error) => {
    throw error;
  });
  child.on("exit", (code, signal) => {
    if (signal !== null) throw new Error(signal);
    process.exit(code ?? 1);
  });
  child.on("message", (reply: ProcessReply) => {
    const relayed = relay(reply);
    parentPort?.postMessage(relayed, relayed.kind === "states" ? hostBuffers(relayed) : []);
  });
  parentPort?.on("message", (message: WorkerMessage | WorkerEnd) => {
    if (message.kind === "end") child.kill("SIGKILL");
    // A process that is gone can't be written to; its exit says so.
    else child.send(message, () => undefined);
  });

  function relay(reply: ProcessReply): WorkerReply {
    if (reply.kind === "states") {
      return { ...reply, features: reply.features.map(own), last: reply.last && own(reply.last) };
    }
    if (reply.kind !== "ready") return reply;
    if (reply.timer === null) return { ...reply, timer: null };
    const received = receiveTimer(reply.timer);
    child.stdio[boundaryPipe]?.on("data", (bytes) => received.write(bytes));
    return { ...reply, timer: received.timer };
  }
}

/** A matrix in memory of its own: what was received may lie in one buffer with what comes next. */
const own = ({ values, width }: HostMatrix): HostMatrix => ({ values: values.slice(), width });

relayTargetProcess(workerData);
