import { mkdtempSync, rmSync } from "node:fs";
import { get } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ndjson, readLog } from "@dflash/log-formatter";
import { expect, test } from "vitest";
import { dashboardSink } from "./dashboardSink.ts";
import type { PageData } from "./runData.ts";
import { writeSampleLog } from "./sampleLog.test-support.ts";

test("steps that a resumed run does again count once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "dashboard-"));
  try {
    writeSampleLog(folder, { steps: 10 });
    const earlier = join(folder, "log.ndjson");
    const sink = dashboardSink({ port: 0, earlier, stepsBefore: 6 });
    const url = await sink.url;
    const shown = async (): Promise<number | undefined> => {
      const response = await fetch(`${url}/data`);
      // oxlint-disable-next-line no-unsafe-type-assertion -- the page's own data
      return ((await response.json()) as PageData).runs[0]?.steps;
    };
    expect(await shown()).toBe(6);
    const formatter = ndjson();
    for await (const record of readLog(earlier))
      if (record.kind === "step" && record.step > 6) sink.write(formatter.step(record), "step");
    await expect.poll(shown).toBe(10);
    await sink.close!();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("whoever holds connections, speaks no HTTP or was sent here by another name is turned away, and the page stays", async () => {
  const sink = dashboardSink({ port: 0, earlier: "none", stepsBefore: 0 });
  const port = Number(new URL(await sink.url).port);
  const status = async (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const request = get({ port, host: "127.0.0.1", path: "/data", headers: { host }, agent: false }, (response) => {
        resolve(response.resume().statusCode);
      });
      request.on("error", reject);
    });
  const sockets: Socket[] = [];
  const open = (sent: string): { socket: Socket; received: () => string } => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(sent));
    socket.on("data", (data: Buffer) => (text += data.toString())).on("error", () => {});
    sockets.push(socket);
    return { socket, received: () => text };
  };
  try {
    expect(await status("localhost:8080")).toBe(200);
    for (const host of ["dflash.example", "localhost.example:8080", "127.0.0.1.example"])
      expect([host, await status(host)]).toEqual([host, 403]);
    const { received } = open("\0garbage\r\n\r\n");
    await expect.poll(received).toMatch(/^HTTP\/1\.1 400 /);
    const silent = Array.from({ length: 40 }, () => open("").socket);
    await expect.poll(() => silent.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(16);
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => status("127.0.0.1").catch(() => 0)).toBe(200);
  } finally {
    for (const socket of sockets) socket.destroy();
    await sink.close!();
  }
});
