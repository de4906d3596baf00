import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { prometheus } from "../formatters/prometheus.ts";
import { stepOf } from "../record.test-support.ts";
import { metricsSink } from "./metricsSink.ts";

test("the newest page is served, and only under /metrics", async () => {
  const sink = metricsSink({ port: 0 });
  const formatter = prometheus();
  const url = await sink.url;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  expect(await (await fetch(url)).text()).toBe("");
  for (const step of [1, 2, 3]) sink.write(formatter.step(stepOf(step)), "step");
  const response = await fetch(url);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(await response.text()).toContain("\ndflash_step 3\n");
  expect((await fetch(new URL("/", url))).status).toBe(404);
  await sink.close!();
  await expect(fetch(url)).rejects.toThrow("fetch failed");
});

test("it answers while a step keeps this thread busy", async () => {
  const sink = metricsSink({ port: 0 });
  const url = await sink.url;
  sink.write("page of a long step\n", "step");
  // Runs another process to its end without letting this thread's event loop turn.
  const script = `fetch(${JSON.stringify(url)}).then((response) => response.text()).then((text) => process.stdout.write(text))`;
  expect(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" })).toBe("page of a long step\n");
  await sink.close!();
});

test("no reader gets a page that a write cut through", async () => {
  const sink = metricsSink({ port: 0 });
  const url = await sink.url;
  const stop = new AbortController();
  const pages: string[] = [];
  const reading = (async () => {
    while (!stop.signal.aborted) pages.push(await (await fetch(url)).text());
  })();
  for (let turn = 0; turn < 20_000 || pages.length < 20; turn++) {
    sink.write(String(turn % 10).repeat(10_000 + (turn % 7) * 1000), "step");
    if (turn % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  stop.abort();
  await reading;
  for (const page of pages) expect(new Set(page).size).toBeLessThanOrEqual(1);
  await sink.close!();
});

test("who was sent here by another name is turned away", async () => {
  const sink = metricsSink({ port: 0 });
  const url = await sink.url;
  const status = async (host: string): Promise<number | undefined> => {
    const [response]: IncomingMessage[] = await once(get(url, { headers: { host }, agent: false }), "response");
    return response!.resume().statusCode;
  };
  expect([await status("localhost:9464"), await status("metrics.example")]).toEqual([200, 403]);
  await sink.close!();
});

test("whoever holds connections gets few of them, and the page stays", async () => {
  const sink = metricsSink({ port: 0 });
  const url = await sink.url;
  const sockets = Array.from({ length: 40 }, () => connect(Number(new URL(url).port), "127.0.0.1"));
  for (const socket of sockets) socket.resume().on("error", () => {});
  await expect.poll(() => sockets.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(16);
  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => fetch(url).then(({ status }) => status, String)).toBe(200);
  await sink.close!();
});

test("a port in use is told by the address and by the next write", async () => {
  const first = metricsSink({ port: 0 });
  const port = Number(new URL(await first.url).port);
  const second = metricsSink({ port });
  const message = `cannot serve metrics on 127.0.0.1:${port}: listen EADDRINUSE: address already in use 127.0.0.1:${port}`;
  await expect(second.url).rejects.toThrow(message);
  expect(() => second.write("page", "step")).toThrow(message);
  await first.close!();
  await second.close!();
});

test("lines and pages beyond its room are refused", async () => {
  const sink = metricsSink({ port: 0 });
  expect(() => sink.open!("lines", () => "")).toThrow("a metrics sink needs a formatter of pages, such as prometheus");
  expect(() => sink.write("x".repeat(1_048_577), "step")).toThrow(
    "a page of 1048577 bytes is more than the 1048576 that a metrics sink holds",
  );
  await sink.close!();
});
