import { resolveObjectURL } from "node:buffer";
import { Worker as NodeWorker } from "node:worker_threads";

/**
 * Gives Node what jax-js takes from a browser: `navigator`, on Node 20 `map` of iterators, and for more than one thread a
 * `Worker` that starts from the URL of a blob.
 */
export function provideBrowserGlobals(threads: number): void {
  const navigator = { userAgent: `Node.js/${process.versions.node}`, hardwareConcurrency: threads };
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
  const iterators: { map?: unknown } = Object.getPrototypeOf(Object.getPrototypeOf([].values()));
  iterators.map ??= function <T, U>(this: Iterable<T>, change: (item: T) => U): U[] {
    return Array.from(this, change);
  };
  if (threads > 1) Object.assign(globalThis, { Worker: BlobWorker });
}

const browserScope = `
  const { parentPort } = require("node:worker_threads");
  globalThis.self = globalThis;
  globalThis.postMessage = (data) => parentPort.postMessage(data);
  parentPort.on("message", (data) => self.onmessage({ data }));
`;

class BlobWorker {
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: ((error: Error) => void) | null = null;
  readonly #worker: Promise<NodeWorker>;

  constructor(url: string) {
    this.#worker = this.#start(url);
  }

  async #start(url: string): Promise<NodeWorker> {
    const source = (await resolveObjectURL(url)?.text()) ?? "";
    const worker = new NodeWorker(browserScope + source, { eval: true });
    worker.on("message", (data: unknown) => this.onmessage?.({ data }));
    worker.on("error", (error) => this.onerror?.(error));
    return worker;
  }

  postMessage(data: unknown): void {
    // oxlint-disable-next-line require-post-message-target-origin -- a worker, not a window
    void this.#worker.then((worker) => worker.postMessage(data));
  }
}
