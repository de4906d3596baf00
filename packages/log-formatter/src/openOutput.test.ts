import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ndjson } from "./formatters/ndjson.ts";
import { openOutput, resolveOutput } from "./openOutput.ts";

const cwd = mkdtempSync(join(tmpdir(), "outputs-"));
afterAll(() => rmSync(cwd, { recursive: true }));

test("a file, resolved from the user's folder", async () => {
  const [formatter, sink] = await openOutput("ndjson:runs/log.ndjson", { cwd });
  expect(formatter).toBe(ndjson);
  sink.write("line\n", "step");
  expect(readFileSync(join(cwd, "runs/log.ndjson"), "utf8")).toBe("line\n");
  await sink.close!();
});

test.each(["stdout", "stderr"])("%s", async (place) => {
  expect((await openOutput(`pretty:${place}`))[1].name).toBe(place);
});

test("a port for Prometheus, which is there and free", async () => {
  const [, sink] = await openOutput("prometheus:0");
  expect(sink.name).toBe("127.0.0.1:0");
  await sink.close!();
  await expect(openOutput("prometheus:70000")).rejects.toThrow(
    "log output prometheus:70000: expected a port up to 65535",
  );
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await expect(openOutput(`prometheus:${port}`)).rejects.toThrow(/^log output prometheus:\d+: .*EADDRINUSE/);
  server.close();
});

test("a file for Prometheus, by the name that node_exporter looks for", async () => {
  const [, sink] = await openOutput("prometheus:run.prom", { cwd });
  expect(sink.name).toBe(join(cwd, "run.prom"));
  await sink.close!();
  await expect(openOutput("prometheus:abc", { cwd })).rejects.toThrow(
    "log output prometheus:abc: expected a port such as 9464, or a file that ends in .prom",
  );
  expect(readdirSync(cwd)).not.toContain("abc");
});

test("a folder for TensorBoard, which looks for a name of its own", async () => {
  const [, sink] = await openOutput("tensorboard:tb/first", { cwd });
  sink.write("events", "step");
  await sink.close!();
  const [name] = readdirSync(join(cwd, "tb/first"));
  expect(name).toMatch(/^events\.out\.tfevents\.\d{10}\./);
  const [, named] = await openOutput("tensorboard:tb/my.tfevents", { cwd });
  expect(named.name).toBe(join(cwd, "tb/my.tfevents"));
  await named.close!();
});

test.each([
  ["ndjson:.", "log output ndjson:.: EISDIR: illegal operation on a directory, open"],
  ["ndjson", "log output ndjson: expected FORMAT:PLACE, such as ndjson:log.ndjson or pretty:stderr"],
  [":stdout", "log output :stdout: expected FORMAT:PLACE"],
  ["pretty:", "log output pretty:: expected FORMAT:PLACE"],
  ["prety:stdout", "log format prety: neither a built-in format"],
])("%s is refused", async (output, message) => {
  await expect(openOutput(output, { cwd })).rejects.toThrow(message);
});

test("an output can be made to mean the same in every folder", () => {
  writeFileSync(join(cwd, "plain.mjs"), "export default () => ({ step: () => '' });\n");
  const same = [
    "pretty:stderr",
    "prometheus:9464",
    "ndjson:/var/log/run",
    "a-package:stdout",
    "ndjson",
    ":stdout",
    "pretty:",
  ];
  for (const output of same) expect(resolveOutput(output, cwd)).toBe(output);
  expect(resolveOutput("ndjson:../log", join(cwd, "runs"))).toBe(`ndjson:${join(cwd, "log")}`);
  expect(resolveOutput("./new.mjs:out", cwd)).toBe(`${join(cwd, "new.mjs")}:${join(cwd, "out")}`);
  expect(resolveOutput("plain.mjs:stdout", cwd)).toBe(`${join(cwd, "plain.mjs")}:stdout`);
});
