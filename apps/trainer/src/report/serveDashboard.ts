import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import type { LogRecord } from "@dflash/log-formatter";
import { earlierRecords } from "../earlierRecords.ts";
import { collectRun } from "./collectRun.ts";
import type { DashboardSinkOptions } from "./dashboardSink.ts";
import { bundlePage, reportPage } from "./reportPage.ts";
import type { PageData } from "./runData.ts";

/* oxlint-disable unicorn/require-post-message-target-origin -- a worker's port has no origins */

const { port, earlier, stepsBefore }: DashboardSinkOptions = workerData;
const collector = collectRun();
const lines: string[] = [];
let isReady = false;

function add(chunk: string | Uint8Array): void {
  const text = typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
  for (const line of text.split("\n")) if (line !== "") lines.push(line);
  if (!isReady) return;
  for (const line of lines.splice(0)) {
    const record: LogRecord = JSON.parse(line);
    collector.add(record);
  }
}

function data(): PageData {
  const run = collector.data();
  return { runs: run === null || run.steps === 0 ? [] : [run], live: true };
}

parentPort!.on("message", add);
for await (const record of earlierRecords(earlier, stepsBefore)) collector.add(record);
isReady = true;
add("");
const parts = await bundlePage();

/** Bytes that are made anew when they are asked for after half a second, and not before, however many ask. */
function fresh(make: () => string): () => Buffer {
  let bytes: Buffer;
  let until = -Infinity;
  return () => {
    if (performance.now() < until) return bytes;
    bytes = Buffer.from(make());
    until = performance.now() + 500;
    return bytes;
  };
}

const pages = new Map([
  ["/", { type: "text/html; charset=utf-8", body: fresh(() => reportPage(parts, data())) }],
  ["/data", { type: "application/json", body: fresh(() => JSON.stringify(data())) }],
]);

const server = createServer((request, response) => {
  const page = pages.get(request.url ?? "");
  // A page elsewhere may have its name resolved to this machine.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? "")) response.writeHead(403).end();
  else if (page === undefined) response.writeHead(404).end("Not here: the dashboard is at /.\n");
  else response.writeHead(200, { "content-type": page.type, "cache-control": "no-store" }).end(page.body());
});
// Connections take descriptors that the run needs to save its checkpoints.
server.maxConnections = 16;
server.timeout = 10_000;
server.on("error", (error) => parentPort!.postMessage({ error: error.message }));
// oxlint-disable-next-line no-unsafe-type-assertion -- a server that listens on a port has one
server.listen(port, "127.0.0.1", () => parentPort!.postMessage({ port: (server.address() as AddressInfo).port }));
