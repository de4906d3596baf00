import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HeaderRecord, SummaryRecord } from "@dflash/log-formatter";
import { openSafetensors } from "@dflash/safetensors";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dflash, type Finished, repository, temporaryFolder } from "../dflash.test-support.ts";
import { parseLog, readLog, steps } from "../runLog.test-support.ts";

const small = ["--threads", "1", "--anchors", "2", "--rows", "1", "--max-length", "64", "--engine", "wasm"];

describe("a run", () => {
  const folder = mkdtempSync(join(tmpdir(), "dflash-train-"));
  const run = join(folder, "run");
  let finished: Finished;
  const lossesOf = (name: string): unknown[] =>
    steps(readLog(join(folder, name))).map(({ metrics }) => metrics["loss"]);
  beforeAll(async () => {
    finished = await dflash(["train", "--steps", "6", ...small, "--out", "run"], folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("leaves config, log, drafter and summary, and prints a line a step without escape codes in a pipe", async () => {
    const { code, stdout, stderr } = finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).not.toContain("\u001b");
    for (const step of [1, 2, 3, 4, 5, 6]) expect(stdout).toMatch(new RegExp(`^step +${step} .*loss`, "m"));
    expect(stdout).toMatch(/^bottleneck: /m);
    expect(stdout).toMatch(/^verdict: none, for too short a run; ten steps are enough for one$/m);

    expect(JSON.parse(readFileSync(join(run, "config.json"), "utf8"))).toMatchObject({ steps: 6, anchors: 2, seed: 0 });
    const records = readLog(run);
    const kinds = ["header", ...Array<string>(6).fill("step"), "event", "summary"];
    expect(records.map(({ kind }) => kind)).toEqual(kinds);
    const header = records[0] as HeaderRecord;
    const summary = records.at(-1) as SummaryRecord;
    const wanted = [
      ..."data target/forward target/capture target/pack queue/wait queue/full log".split(" "),
      ..."anchors mask noise forward loss backward clip optimizer".split(" ").map((name) => `drafter/${name}`),
    ];
    expect(header.sections.map(({ name }) => name)).toEqual(expect.arrayContaining(wanted));
    expect(Object.keys(summary.sections)).toEqual(expect.arrayContaining([...wanted, "(step)", "(residual)"]));

    const drafter = await openSafetensors(join(run, "drafter/model.safetensors"));
    expect(drafter.tensors.size).toBe(2 * 11 + 3);
    await drafter.close();
    expect(JSON.parse(readFileSync(join(run, "summary.json"), "utf8"))).toMatchObject({
      reason: "steps",
      steps: 6,
      engine: "wasm",
    });
  });

  test("has sections whose own times and the residual add up to each step, and leaves no tensor behind", () => {
    const records = steps(readLog(run));
    expect(records).toHaveLength(6);
    for (const { ms, residual_ms: residual, sections } of records) {
      const own = Object.values(sections).reduce((sum, { self_ms: self }) => sum + (self ?? 0), 0);
      // Each time is written with three decimals.
      expect(Math.abs(own + residual - ms)).toBeLessThan(0.0005 * (Object.keys(sections).length + 2));
      expect(residual).toBeGreaterThanOrEqual(0);
    }
    expect(new Set(records.map(({ gauges }) => gauges["tensors"])).size).toBe(1);
  });

  test("has the same losses again with the same seed, bit for bit, and others with another", async () => {
    const losses = async (name: string, seed: string): Promise<unknown[]> => {
      await dflash(["train", "--steps", "6", ...small, "--seed", seed, "--out", name], folder);
      return lossesOf(name);
    };
    expect(lossesOf("run")).toHaveLength(6);
    expect(await losses("again", "0")).toEqual(lossesOf("run"));
    expect(await losses("other", "8")).not.toEqual(lossesOf("run"));
  });
});

test("without telemetry steps are logged with their losses and no sections", async () => {
  const folder = temporaryFolder();
  const { code } = await dflash(["train", "--steps", "2", ...small, "--no-telemetry", "--out", "run"], folder);
  expect(code).toBe(0);
  const records = steps(readLog(join(folder, "run")));
  expect(records.map(({ sections }) => sections)).toEqual([{}, {}]);
  for (const { metrics, ms } of records) {
    expect(metrics["loss"]).toBeGreaterThan(0);
    expect(ms).toBeGreaterThan(0);
  }
});

test("flags come over the config file, and that over the defaults; another format gets standard output for itself", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "train.yaml"), "steps: 9\nrows: 1\nmaxLength: 64\nanchors: 2\nengine: wasm\nout: run\n");
  const given = ["train", "--config", "train.yaml", "--steps", "2", "--log-format", "ndjson"];
  const printed = await dflash([...given, "--print-config"], folder);
  expect(printed.stdout).toMatch(/^steps: 2 # --steps\n/m);
  expect(printed.stdout).toMatch(/^rows: 1 # train\.yaml:2: rows\n/m);
  expect(printed.stdout).toMatch(/^seed: 0\n/m);
  const { code, stdout } = await dflash(given, folder);
  expect(code).toBe(0);
  expect(parseLog(stdout).map(({ kind }) => kind)).toEqual(["header", "step", "step", "event", "summary"]);
  expect(steps(readLog(join(folder, "run")))).toHaveLength(2);
});

test("Ctrl-C ends the run after its step and saves everything", async () => {
  const folder = temporaryFolder();
  const args = ["train", "--steps", "100000", "--checkpoint-every", "90000", ...small, "--out", "run"];
  const { code, stdout } = await dflash(args, folder, /^step +2 /m);
  expect(code).toBe(130);
  expect(stdout).toContain("stopping after this step");
  expect(stdout).toMatch(/^go on with: pnpm dflash train --resume run$/m);
  const summary = JSON.parse(readFileSync(join(folder, "run/summary.json"), "utf8")) as {
    reason: string;
    steps: number;
  };
  expect(summary.reason).toBe("signal");
  expect(summary.steps).toBeLessThan(1000);
  expect(readFileSync(join(folder, "run/drafter/config.json"), "utf8")).toContain("DFlashDraftModel");
  const checkpoint = `run/checkpoints/step-${String(summary.steps).padStart(8, "0")}`;
  expect(JSON.parse(readFileSync(join(folder, checkpoint, "training.json"), "utf8"))).toMatchObject({
    step: summary.steps,
  });
});

/** The one line that a command that fails with exit code 1 prints on stderr. */
async function failure(args: string[], folder: string = temporaryFolder()): Promise<string> {
  const { code, stderr } = await dflash(["train", ...args], folder);
  expect(code).toBe(1);
  const lines = stderr.trimEnd().split("\n");
  expect(lines).toHaveLength(1);
  return lines[0]!;
}

describe("what can't work is said in one line on stderr, with exit code 1", () => {
  test("a target folder or data file that isn't there", async () => {
    expect(await failure(["--target", "nowhere"])).toMatch(/^dflash: --target .*nowhere: no such folder/);
    // Found when data and target are open, which then close without a word.
    expect(await failure(["--max-length", "4096"])).toMatch(
      /^dflash: --max-length 4096: the target in .* has 2048 positions; give at most that$/,
    );
    expect(await failure(["--data", "nowhere.jsonl"])).toMatch(/^dflash: --data .*nowhere\.jsonl: no such file/);
  });

  test("a truncated safetensors file", async () => {
    const folder = temporaryFolder();
    cpSync(join(repository, "data/tiny-target"), join(folder, "target"), { recursive: true });
    truncateSync(join(folder, "target/model.safetensors"), 1_000_000);
    expect(await failure(["--target", "target"], folder)).toMatch(/model\.safetensors: .*truncated/);
  });

  test("a malformed JSONL line", async () => {
    const folder = temporaryFolder();
    writeFileSync(
      join(folder, "chats.jsonl"),
      '{"messages":[{"role":"user","content":"1+1?"},{"role":"assistant","content":"2"}]}\n{"messages": [\n',
    );
    expect(await failure(["--data", "chats.jsonl"], folder)).toMatch(/chats\.jsonl:2: /);
  });

  test("an unknown engine, format, option or a value out of range", async () => {
    expect(await failure(["--engine", "abacus"])).toMatch(/--engine abacus: expected one of auto, /);
    expect(await failure(["--log-format", "papyrus"])).toMatch(/papyrus: neither a built-in format \(/);
    expect(await failure(["--setps", "3"])).toMatch(/unknown option '--setps' \(Did you mean --steps\?\)/);
    expect(await failure(["--steps", "0"])).toMatch(/whole number from 1 to/);
  });

  test("everything that is wrong with flags and config file, at once", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "train.yaml"), "stesp: 4\nrows: many\n");
    const { code, stderr } = await dflash(["train", "--config", "train.yaml", "--steps", "0"], folder);
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n")).toEqual([
      "dflash: train.yaml:1: stesp: no such setting; did you mean steps?",
      "dflash: train.yaml:2: rows many: expected a whole number from 1 to 4096",
      "dflash: --steps 0: expected a whole number from 1 to 100000000",
    ]);
    expect(await failure(["--config", "nowhere.yaml"], folder)).toMatch(
      /^dflash: --config nowhere\.yaml: no such file/,
    );
  });

  test("a run folder that is taken", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "log.ndjson"), "");
    expect(await failure(["--out", "."], folder)).toMatch(/holds a run already/);
  });
});
