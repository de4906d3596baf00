import { Worker } from "node:worker_threads";
import type { LogSink } from "../logSink.ts";

/** Room for a page: some ten thousand series. */
const pageBytes = 1 << 20;
/** Sequence number and length of the page before it. */
const headBytes = 8;

/** Where the metrics are served. */
export interface MetricsSinkOptions {
  /** Port of 127.0.0.1; 0 takes a free one. */
  port: number;
}

/** A sink that serves the last page. */
export interface MetricsSink extends LogSink {
  /** The page's address, once the server listens; rejects when it can't. */
  readonly url: Promise<string>;
}

/**
 * Serves the newest page of a formatter such as `prometheus` at `http://127.0.0.1:PORT/metrics`, from a worker thread, so that
 * it answers while a step keeps this thread busy. The page is handed over in shared memory: a write costs a copy, no message.
 */
export function metricsSink({ port }: MetricsSinkOptions): MetricsSink {
  const shared = new SharedArrayBuffer(headBytes + pageBytes);
  const head = new Int32Array(shared, 0, headBytes / 4);
  const page = new Uint8Array(shared, headBytes);
  const worker = new Worker(new URL("./metricsWorker.mjs", import.meta.url), {
    workerData: { shared, headBytes, port },
    execArgv: [],
  });
  worker.unref();
  let failure: Error | undefined;
  const url = new Promise<string>((resolve, reject) => {
    const fail = (reason: string): void => {
      failure = new Error(`cannot serve metrics on 127.0.0.1:${port}: ${reason}`);
      reject(failure);
    };
    worker.on("message", (message: { port: number } | { error: string }) => {
      if ("error" in message) fail(message.error);
      else resolve(`http://127.0.0.1:${message.port}/metrics`);
    });
    worker.on("error", (error: Error) => fail(error.message));
  });
  // Also reported by the next write; whoever does not await the address must not get an unhandled rejection.
  url.catch(() => undefined);

  return {
    name: `127.0.0.1:${port}`,
    url,
    open(form) {
      if (form !== "page") throw new Error("a metrics sink needs a formatter of pages, such as prometheus");
    },
    write(chunk) {
      if (failure !== undefined) throw failure;
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      if (bytes.length > pageBytes)
        throw new Error(`a page of ${bytes.length} bytes is more than the ${pageBytes} that a metrics sink holds`);
      Atomics.add(head, 0, 1);
      page.set(bytes);
      Atomics.store(head, 1, bytes.length);
      Atomics.add(head, 0, 1);
    },
    async close() {
      await worker.terminate();
    },
  };
}
