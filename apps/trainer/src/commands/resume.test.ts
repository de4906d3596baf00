import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { LogRecord, StepRecord } from "@dflash/log-formatter";
import { killWhileWriting } from "@dflash/log-formatter/testing";
import { openSafetensors } from "@dflash/safetensors";
import { describe, expect, test } from "vitest";
import { dflash, nodeDflash, repository, temporaryFolder } from "../dflash.test-support.ts";

const small = ["--threads", "1", "--anchors", "2", "--rows", "1", "--max-length", "48", "--engine", "wasm"];
const kills = process.env["DFLASH_LONG"] === "1" ? 50 : 3;
/** More than the killed attempts get done. */
const steps = 8 * kills;

/** Kills a command at a random moment: from its start on, or from one of its first steps on. Says whether it was faster. */
async function killSomewhere(args: readonly string[], cwd: string): Promise<"killed" | "finished"> {
  const command = nodeDflash(args, cwd);
  if (Math.random() < 0.2) return killWhileWriting({ ...command, until: () => true, delayMs: Math.random() * 3000 });
  const stepsToSee = Math.floor(Math.random() * 4);
  const until = (printed: string): boolean => (printed.match(/^step /gm)?.length ?? 0) > stepsToSee;
  return killWhileWriting({ ...command, until, delayMs: Math.random() * 150 });
}

const stepsOf = (run: string): StepRecord[] =>
  readFileSync(join(run, "log.ndjson"), "utf8")
    .split("\n")
    // A killed process may leave a torn line.
    .filter((line) => line.startsWith('{"kind":"step"') && line.endsWith("}"))
    .map((line) => JSON.parse(line) as LogRecord)
    .filter((record) => record.kind === "step");

test(
  `a run that is killed ${kills} times at random moments ends with the same bits as one that never was`,
  async () => {
    const folder = temporaryFolder();
    const run = (out: string): string[] => [
      "train",
      "--steps",
      String(steps),
      "--checkpoint-every",
      "2",
      ...small,
      "--out",
      out,
    ];
    expect((await dflash(run("whole"), folder)).code).toBe(0);

    let attempts = 0;
    let state: "none" | "killed" | "finished" = "none";
    const resume = ["train", "--resume", "killed"];
    while (attempts < kills && state !== "finished") {
      // Killed before it has written its config, a run is simply started.
      const begun = existsSync(join(folder, "killed/config.json"));
      state = await killSomewhere(begun ? resume : run("killed"), folder);
      attempts++;
    }
    expect([state, attempts]).toEqual(["killed", kills]);
    expect((await dflash(resume, folder)).code).toBe(0);

    const last = `checkpoints/step-${String(steps).padStart(8, "0")}`;
    for (const file of ["model.safetensors", "optimizer.safetensors", "training.json"]) {
      const [whole, killed] = ["whole", "killed"].map((out) => readFileSync(join(folder, out, last, file)));
      expect([file, killed!.equals(whole!)]).toEqual([file, true]);
    }
    expect(readdirSync(join(folder, "killed/checkpoints")).filter((name) => name.startsWith("."))).toEqual([]);

    // A bit flips in the newest: the one before it is taken, and ends in the same bits.
    const weights = join(folder, "whole", last, "model.safetensors");
    const flipped = readFileSync(weights);
    flipped[flipped.length - 1]! ^= 1;
    writeFileSync(weights, flipped);
    const again = await dflash(["train", "--resume", "whole"], folder);
    const said =
      /^\S*model\.safetensors: its checksum is \S+, not \S+ as .*; kept as \S+\.damaged-2, the run goes on from step \d+\n$/;
    expect(again).toMatchObject({ code: 0, stderr: expect.stringMatching(said) });
    expect(readFileSync(weights).equals(readFileSync(join(folder, "killed", last, "model.safetensors")))).toBe(true);
    expect(existsSync(join(folder, "whole", `${last}.damaged-2`))).toBe(true);

    const losses = new Map(stepsOf(join(folder, "whole")).map(({ step, metrics }) => [step, metrics["loss"]]));
    const records = stepsOf(join(folder, "killed"));
    expect(new Set(records.map(({ step }) => step))).toEqual(new Set(losses.keys()));
    for (const { step, metrics } of records) expect([step, metrics["loss"]]).toEqual([step, losses.get(step)]);
    expect(new Set(records.map(({ attempt, step }) => `${attempt} ${step}`)).size).toBe(records.length);
    expect(records.map(({ attempt }) => attempt)).toEqual(
      records.map(({ attempt }) => attempt).toSorted((a, b) => a - b),
    );
  },
  60_000 + kills * 60_000,
);

/** The one line that a command that fails prints on stderr. */
async function failure(args: string[], folder: string): Promise<string> {
  const { code, stderr } = await dflash(["train", ...args], folder);
  expect(code).toBe(1);
  const lines = stderr.trimEnd().split("\n");
  expect(lines).toHaveLength(1);
  return lines[0]!;
}

describe("a run stopped by Ctrl-C", () => {
  test("goes on where it was, with its own settings only", async () => {
    const folder = temporaryFolder();
    cpSync(join(repository, "data/gsm8k/test.tiny-target.jsonl"), join(folder, "chats.jsonl"));
    const data = ["--data", "chats.jsonl", "--log", "logfmt:log.txt"];
    const start = ["train", "--steps", "9", "--learning-rate", "0.002", ...data, ...small, "--out", "run"];
    expect((await dflash(start, folder, /^step +2 /m)).code).toBe(130);

    expect(await failure(["--resume", "run", "--learning-rate", "0.003"], folder)).toMatch(
      /^dflash: --learning-rate 0\.003: the run in run was started with 0\.002; leave it out, or start a new run with --init run$/,
    );
    appendFileSync(join(folder, "chats.jsonl"), "\n");
    expect(await failure(["--resume", "run"], folder)).toMatch(
      /step-0000000\d: was trained with dataBytes \d+, not \d+;/,
    );
    cpSync(join(repository, "data/gsm8k/test.tiny-target.jsonl"), join(folder, "chats.jsonl"));

    const elsewhere = temporaryFolder();
    const { code, stdout } = await dflash(["train", "--resume", join(folder, "run"), "--keep", "1"], elsewhere);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^resume +attempt 2, from step \d$/m);
    const records = stepsOf(join(folder, "run"));
    expect(records.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(records.at(-1)).toMatchObject({ attempt: 2 });
    // Its outputs stay where they were.
    expect(readFileSync(join(folder, "log.txt"), "utf8")).toMatch(/^kind=step step=9 attempt=2 /m);
    const summary = (): unknown => JSON.parse(readFileSync(join(folder, "run/summary.json"), "utf8"));
    const whole = summary();
    expect(whole).toMatchObject({ steps: 9, attempt: 2, sections: { "(step)": { n: 9, missing: 0 } } });
    expect(await failure(["--resume", "run"], folder)).toMatch(/--resume run: all 9 steps are done; train its drafter/);

    // Killed between its last checkpoint and its summary.
    for (const name of ["summary.json", "drafter"]) rmSync(join(folder, "run", name), { recursive: true });
    expect(await dflash(["train", "--resume", "run"], folder)).toMatchObject({ code: 0, stderr: "" });
    expect(summary()).toEqual({ ...Object(whole), attempt: 3 });
    expect(readdirSync(join(folder, "run/drafter"))).toEqual(["config.json", "model.safetensors"]);
    expect(stepsOf(join(folder, "run"))).toEqual(records);
  });

  test("can't be taken for one that isn't there", async () => {
    expect(await failure(["--resume", "nowhere"], temporaryFolder())).toMatch(
      /--resume nowhere: no run here; give the/,
    );
  });
});

test("a drafter is exported from a run, and trained further", async () => {
  const folder = temporaryFolder();
  const shape = ["--layers", "2", "--intermediate-size", "96", "--heads", "4", "--kv-heads", "2", "--head-dim", "16"];
  const sliding = [...shape, "--features", "3", "--sliding-window", "20"];
  await dflash(["train", "--steps", "3", ...sliding, ...small, "--out", "run"], folder);
  const exported = await dflash(["export", "run", "--out", "served"], folder);
  expect(exported).toMatchObject({ code: 0, stderr: "" });
  expect(exported.stdout).toBe("run/checkpoints/step-00000003 is exported to served: 25 tensors, bfloat16\n");
  const weights = await openSafetensors(join(folder, "served/model.safetensors"));
  expect(new Set([...weights.tensors.values()].map(({ dtype }) => dtype))).toEqual(new Set(["BF16"]));
  expect(weights.tensors.get("layers.1.mlp.down_proj.weight")).toMatchObject({ shape: [256, 96] });
  expect(weights.tensors.get("fc.weight")).toMatchObject({ shape: [256, 3 * 256] });
  await weights.close();
  expect(JSON.parse(readFileSync(join(folder, "served/config.json"), "utf8"))).toMatchObject({
    layer_types: ["sliding_attention", "full_attention"],
    sliding_window: 20,
    num_attention_heads: 4,
  });

  mkdirSync(join(folder, "target"));
  writeFileSync(join(folder, "target/config.json"), '{"model_type":"qwen3"}');
  // Neither a run's config nor finer weights are written over; an earlier export is.
  for (const out of ["run", "run/checkpoints/step-00000003", "target"]) {
    const { code, stderr } = await dflash(["export", "served", "--out", out], folder);
    expect([code, stderr]).toEqual([
      1,
      `dflash: --out ${out}: holds a run, a checkpoint or another model; choose another folder\n`,
    ]);
  }
  expect((await dflash(["export", "run", "--out", "served"], folder)).code).toBe(0);

  expect(await failure(["--resume", "run/checkpoints/step-00000003"], folder)).toMatch(
    /: a drafter and no run; give the folder of its run, or start a new run with --init run\/checkpoints\/step-00000003$/,
  );
  const further = ["train", "--steps", "1", ...small, "--out", "further"];
  // From the published layout, as anybody's drafter comes.
  expect((await dflash([...further, "--init", "served"], folder)).code).toBe(0);
  const [last, first] = [stepsOf(join(folder, "run")).at(-1)!, stepsOf(join(folder, "further"))[0]!];
  const untrained = stepsOf(join(folder, "run"))[0]!;
  // The first batch again, after three steps of training.
  expect(first.metrics["loss"]).toBeLessThan(untrained.metrics["loss"]!);
  expect(last.metrics["loss"]).not.toBe(first.metrics["loss"]);
  expect(await failure(["--init", "run", "--heads", "8"], folder)).toMatch(
    /--heads 8: the drafter in .*step-00000003 has 4; leave it out, or leave out --init/,
  );
  truncateSync(join(folder, "served/model.safetensors"), 1000);
  expect((await dflash(["export", "served", "--out", "x"], folder)).stderr).toMatch(/; the file is truncated\n$/);
  expect(existsSync(join(folder, "x"))).toBe(false);
  expect((await dflash(["export", "data", "--out", "x"], folder)).stderr).toMatch(
    /^dflash: .*data: no drafter here; give/,
  );
});
