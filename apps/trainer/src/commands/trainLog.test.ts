import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dflash, startDflash, temporaryFolder } from "../dflash.test-support.ts";
import { readLog, steps } from "../runLog.test-support.ts";

const small = ["--threads", "1", "--anchors", "2", "--rows", "1", "--max-length", "48", "--engine", "wasm"];

test("a run logs to many places, goes on when some fail, and says when it is slower than its baseline", async () => {
  const folder = temporaryFolder();
  // A baseline that nothing can be as fast as.
  mkdirSync(join(folder, "fast"));
  const fast = Array.from({ length: 5 }, (_, index) => {
    const section = { ms: 0.001, self_ms: 0.001, n: 1 };
    const values = { attempt: 1, t_ms: index, ms: 0.002, residual_ms: 0.001, ov_us: 1, verdict: null };
    const empty = { lanes: {}, metrics: {}, gauges: {}, tags: [] };
    const record = { kind: "step", step: index + 1, ...values, ...empty, sections: { "drafter/backward": section } };
    return `${JSON.stringify(record)}\n`;
  });
  writeFileSync(join(folder, "fast/log.ndjson"), fast.join(""));
  writeFileSync(
    join(folder, "failing.mjs"),
    "export default function failing() { return { step() { throw new Error('out of ink'); } }; }\n",
  );
  const outputs = [
    "pretty:stderr",
    "ndjson:run/log.ndjson",
    "logfmt:more/log.txt",
    "tensorboard:tb",
    "pretty:/dev/full",
    "./failing.mjs:never.txt",
    "ndjson:0",
  ];
  const args = ["train", "--steps", "22", ...small, "--out", "run", "--baseline", "fast"];
  const { code, stdout, stderr } = await dflash([...args, ...outputs.flatMap((output) => ["--log", output])], folder);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).not.toContain("\u001b");
  expect(stderr.match(/^log: .*$/gm)).toEqual([
    "log: ndjson to 127.0.0.1:0 is switched off: a metrics sink needs a formatter of pages, such as prometheus",
    "log: pretty to /dev/full is switched off: ENOSPC: no space left on device, write",
    expect.stringMatching(/^log: failing to .*never\.txt is switched off: out of ink$/),
  ]);
  expect(stderr).toMatch(/^verdict: .* of the time, confidence .*\nadvice: /m);
  expect(stderr).toMatch(/^step +20 {2}baseline {2}drafter\/backward \+\d+ % against baseline since step 1$/m);

  // The run's own log, though given by hand, once.
  const records = readLog(join(folder, "run"));
  const numbers = Array.from({ length: 22 }, (_, index) => index + 1);
  expect(steps(records).map(({ step }) => step)).toEqual(numbers);
  const off = records.filter((record) => record.kind === "event" && record.name === "sink-off");
  expect(off).toHaveLength(3);
  expect(records[0]?.kind).toBe("header");
  const baseline = records.filter((record) => record.kind === "event" && record.name === "baseline");
  expect(baseline).toContainEqual(
    expect.objectContaining({ step: 20, data: expect.objectContaining({ section: "drafter/backward", since: 1 }) }),
  );
  expect(readFileSync(join(folder, "more/log.txt"), "utf8").match(/^kind=step /gm)).toHaveLength(22);
  expect(readdirSync(join(folder, "tb"))).toEqual([expect.stringMatching(/^events\.out\.tfevents\./)]);
});

test("a run whose standard output nobody reads goes on to its end", async () => {
  const folder = temporaryFolder();
  // Past what a pipe holds and what may wait for its reader, within a few steps.
  writeFileSync(join(folder, "long.mjs"), "export default () => ({ step: () => `${'x'.repeat(600_000)}\\n` });\n");
  const args = ["train", "--steps", "6", ...small, "--out", "run", "--log-format", "./long.mjs"];
  const child = startDflash(args, folder);
  let stderr = "";
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  await expect.poll(() => stderr, { timeout: 120_000 }).toMatch(/^drafter, log and summary are in run$/m);
  child.kill("SIGKILL");
  expect(stderr.match(/^log: .*$/gm)).toEqual([
    expect.stringMatching(/^log: \w+ to stdout is switched off: stdout is not being read: \d+ bytes wait$/),
  ]);
  expect(steps(readLog(join(folder, "run"))).map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
});

test("an output that can't be had, and a baseline that isn't there, end the command before the run begins", async () => {
  const folder = temporaryFolder();
  const failure = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await dflash(["train", ...args, "--out", "run"], folder);
    expect([code, readdirSync(folder)]).toEqual([1, []]);
    return stderr;
  };
  expect(await failure("--log", "pretty")).toMatch(/^dflash: log output pretty: expected FORMAT:PLACE, .*\n$/);
  expect(await failure("--log", "prometheus:99999")).toMatch(/^dflash: log output prometheus:99999: expected a port/);
  expect(await failure("--log", "tsv:run/log.ndjson")).toMatch(
    /^dflash: --log tsv:run\/log\.ndjson: the run's own log is written there, as ndjson; name another file\n$/,
  );
  expect(await failure("--baseline", "nowhere")).toMatch(/^dflash: .*nowhere: no such run; .*\n$/);
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  // oxlint-disable-next-line no-unsafe-type-assertion -- a server that listens on a port has one
  const { port } = other.address() as AddressInfo;
  expect(await failure("--dashboard", String(port))).toMatch(
    /^dflash: cannot serve the dashboard on 127\.0\.0\.1:\d+: listen EADDRINUSE: .*\n$/,
  );
  // A dashboard that is served already is no reason to stay.
  expect(await failure("--dashboard", "0", "--max-length", "4096")).toMatch(/^dflash: --max-length 4096: /);
});
