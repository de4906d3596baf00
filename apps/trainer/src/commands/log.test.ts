import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StepRecord } from "@dflash/log-formatter";
import { expect, test } from "vitest";
import { dflash, startDflash, temporaryFolder } from "../dflash.test-support.ts";

/** The line of a step whose backward pass took `backwardMs`, and 8 ms more. */
function lineOf(step: number, backwardMs: number, attempt: number = 1): string {
  const record: StepRecord = {
    kind: "step",
    step,
    attempt,
    t_ms: step * 50,
    ms: backwardMs + 8,
    residual_ms: 5,
    ov_us: 4,
    sections: {
      "drafter/backward": { ms: backwardMs, self_ms: backwardMs, n: 1 },
      data: { ms: 3, self_ms: 3, n: 1 },
    },
    lanes: {},
    verdict: null,
    metrics: {},
    gauges: {},
    tags: [],
  };
  return `${JSON.stringify(record)}\n`;
}

function headerOf(attempt: number, config: object = {}): string {
  const place = { rank: 0, host: "here", pid: 1, start: "2026-11-30T00:00:00.000Z" };
  return `${JSON.stringify({ kind: "header", v: 1, run: "r", attempt, ...place, sections: [], config })}\n`;
}

/** Leaves a run of 40 steps with some jitter in a folder. */
function writeRun(folder: string, backwardMs: number, config: object = {}): string {
  const lines = Array.from({ length: 40 }, (_, index) => lineOf(index + 1, backwardMs + (index % 3)));
  mkdirSync(folder);
  writeFileSync(join(folder, "log.ndjson"), `${headerOf(1, config)}${lines.join("")}`);
  return join(folder, "log.ndjson");
}

test("a finished log is printed in a format of the caller's own, what was torn and done again left out", async () => {
  const folder = temporaryFolder();
  const log = writeRun(join(folder, "run"), 40);
  appendFileSync(log, `{"kind":"step","st\n${headerOf(2)}${lineOf(40, 7, 2)}`);
  writeFileSync(join(folder, "mine.mjs"), "export default () => ({ step: (r) => `${r.step} ${r.ms}\\n` });\n");
  const { code, stdout, stderr } = await dflash(["log", "run", "--format", "./mine.mjs"], folder);
  expect({ code, stderr }).toEqual({ code: 0, stderr: `${log}:42: a torn line is left out\n` });
  const expected = Array.from({ length: 39 }, (_, index) => `${index + 1} ${48 + (index % 3)}`);
  expect(stdout.trimEnd().split("\n")).toEqual([...expected, "40 15"]);
});

test("a running log is followed until Ctrl-C, and the document then ended", async () => {
  const folder = temporaryFolder();
  const log = writeRun(join(folder, "run"), 40);
  const child = startDflash(["log", "run/log.ndjson", "--follow", "--format", "chrome", "--out", "trace.json"], folder);
  const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
  const trace = (): string => {
    try {
      return readFileSync(join(folder, "trace.json"), "utf8");
    } catch {
      return "";
    }
  };
  await expect.poll(trace, { timeout: 30_000 }).toContain('"step":40,');
  appendFileSync(log, lineOf(41, 40));
  await expect.poll(trace, { timeout: 30_000 }).toContain('"step":41,');
  child.kill("SIGINT");
  expect(await closed).toBe(0);
  const bars = JSON.parse(trace()) as { name: string }[];
  expect(bars.filter(({ name }) => name === "drafter/backward")).toHaveLength(41);
});

test("two runs are compared section by section with their settings, and a slower one fails past a share", async () => {
  const folder = temporaryFolder();
  writeRun(join(folder, "before"), 40, { rows: 2, out: join(folder, "before") });
  writeRun(join(folder, "after"), 50, { rows: 4, out: join(folder, "after") });
  const { code, stdout } = await dflash(["log", "after", "--compare", "before"], folder);
  expect(code).toBe(0);
  expect(stdout.split("\n")[1]).toBe("the settings differ: --rows 2 → 4");
  const row = /^drafter\/backward +(\S+) ± (\S+) +(\S+) ± (\S+) +\+24\.\d % +slower$/m.exec(stdout);
  // Medians of 40, 41, 42 and of 50, 51, 52, quartiles one apart on either side, all to 0.2 %.
  const expected = [41, 1, 51, 1];
  expected.forEach((ms, index) => expect(Math.abs(Number(row?.[index + 1]) - ms)).toBeLessThan(0.1));
  expect(stdout).toMatch(/^data +3\.000 ± 0\.000 +3\.000 ± 0\.000 +\+0\.0 %$/m);
  const failing = await dflash(["log", "after", "--compare", "before", "--fail-over", "20%"], folder);
  expect(failing.code).toBe(1);
  expect(failing.stdout).toBe(stdout);
  expect(failing.stderr).toMatch(
    /^dflash: slower than before by more than 20 %: drafter\/backward \+24\.\d %, \(step\) \+20\.\d %\n$/,
  );
  expect((await dflash(["log", "before", "--compare", "after", "--fail-over", "1%"], folder)).code).toBe(0);
});

test("what can't work is said in one line, with exit code 1", async () => {
  const folder = temporaryFolder();
  const log = writeRun(join(folder, "run"), 40);
  const failure = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await dflash(["log", ...args], folder);
    expect(code).toBe(1);
    return stderr;
  };
  expect(await failure("nowhere")).toBe("dflash: nowhere: no such run; give the folder of a run, or its log.ndjson\n");
  writeFileSync(join(folder, "empty.ndjson"), "");
  expect(await failure("empty.ndjson")).toMatch(/^dflash: .*: holds no record yet; --follow waits for them\n$/);
  writeFileSync(join(folder, "text"), "no\nlog\n".repeat(20));
  const told = [1, 2, 3].map((line) => `${join(folder, "text")}:${line}: a torn line is left out\n`).join("");
  expect(await failure("text")).toBe(
    `${told}${join(folder, "text")}: 37 more torn lines are left out\ndflash: ${join(folder, "text")}: none of its 40 lines is a record; give the log.ndjson of a run\n`,
  );
  expect(await failure("run", "--out", "/dev/full")).toBe(
    "dflash: log output pretty:/dev/full: ENOSPC: no space left on device, write\n",
  );
  expect(await failure("run", "--out", log)).toMatch(/^dflash: --out .*: that is the log itself; .*\n$/);
  writeRun(join(folder, "other"), 40);
  expect(await failure("run", "--format", "ndjson", "--out", "other/log.ndjson")).toBe(
    "dflash: --out other/log.ndjson: is there already; remove it, or choose another file\n",
  );
  writeFileSync(join(folder, "mine.mjs"), "export default () => ({ step() { throw new Error('out of ink'); } });\n");
  expect(await failure("run", "--format", "./mine.mjs")).toBe("dflash: log output ./mine.mjs:stdout: out of ink\n");
});
