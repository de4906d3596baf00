// The /metrics server of metricsSink.ts, in plain JavaScript: a worker in TypeScript does not start under tsx on Node 20.
/* oxlint-disable unicorn/require-post-message-target-origin -- a worker's port has no origins */
import { createServer } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

const { shared, headBytes, port } = workerData;
const head = new Int32Array(shared, 0, headBytes / 4);
const page = new Uint8Array(shared, headBytes);

/** A copy of the page that no write cut through: the sequence is odd during a write and differs after one. */
function read() {
  for (;;) {
    const before = Atomics.load(head, 0);
    const copy = page.slice(0, Atomics.load(head, 1));
    if (before % 2 === 0 && Atomics.load(head, 0) === before) return copy;
  }
}

const server = createServer((request, response) => {
  // A page elsewhere may have its name resolved to this machine.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? "")) response.writeHead(403).end();
  else if (request.url !== "/metrics") response.writeHead(404).end("Not here: the metrics are at /metrics.\n");
  else response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(read());
});
// Connections take descriptors of the process that is being measured.
server.maxConnections = 16;
server.timeout = 10_000;
server.on("error", (error) => parentPort.postMessage({ error: error.message }));
server.listen(port, "127.0.0.1", () => parentPort.postMessage({ port: server.address().port }));
