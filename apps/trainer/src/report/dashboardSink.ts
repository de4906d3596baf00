import { Worker } from "node:worker_threads";
import type { LogSink } from "@dflash/log-formatter";

export interface DashboardSinkOptions {
  /** Port of 127.0.0.1; 0 takes a free one. */
  readonly port: number;
  /** Log of the run's earlier attempts, where there were some. */
  readonly earlier: string;
  /** Steps of them that stand; what they had done beyond is done again. */
  readonly stepsBefore: number;
}

/** A sink that shows a run while it goes on. */
export interface DashboardSink extends LogSink {
  /** The page's address, once it is served; rejects when it can't be. */
  readonly url: Promise<string>;
}

/** Serves a run's page on loopback, from a worker thread, so that it answers while a step keeps this thread busy. Takes ndjson. */
export function dashboardSink({ port, earlier, stepsBefore }: DashboardSinkOptions): DashboardSink {
  const worker = new Worker(new URL("./dashboardWorker.mjs", import.meta.url), {
    workerData: { port, earlier, stepsBefore },
    execArgv: [],
  });
  worker.unref();
  let failure: Error | undefined;
  const url = new Promise<string>((resolve, reject) => {
    const fail = (reason: string): void => {
      failure = new Error(`cannot serve the dashboard on 127.0.0.1:${port}: ${reason}`);
      reject(failure);
      // With a worker of its own, as its loader is, it would keep the process from ending, unref or not.
      void worker.terminate();
    };
    worker.on("message", (message: { port: number } | { error: string }) => {
      if ("error" in message) fail(message.error);
      else resolve(`http://127.0.0.1:${message.port}`);
    });
    worker.on("error", (error: Error) => fail(error.message));
  });
  // Also reported by the next write; whoever does not await the address must not get an unhandled rejection.
  url.catch(() => undefined);

  return {
    name: `the dashboard on 127.0.0.1:${port}`,
    url,
    write(chunk) {
      if (failure !== undefined) throw failure;
      // Bytes are the formatter's own, and copied by the message.
      worker.postMessage(chunk, []);
    },
    async close() {
      await worker.terminate();
    },
  };
}
