import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bestCheckpoint, listCheckpoints } from "@dflash/drafter";
import { expect, test } from "vitest";
import { dflash, temporaryFolder } from "../dflash.test-support.ts";
import { readLog, steps } from "../runLog.test-support.ts";

const small = ["--threads", "1", "--anchors", "2", "--rows", "1", "--max-length", "64", "--engine", "wasm"];
const measured = ["--eval-every", "2", "--eval-prompts", "2", "--eval-tokens", "12"];

test("training measures the real acceptance length, as eval does, and scores its checkpoints by it", async () => {
  const folder = temporaryFolder();
  const run = ["train", "--steps", "3", ...small, ...measured, "--checkpoint-every", "2", "--out", "run"];
  expect(await dflash(run, folder)).toMatchObject({ code: 0, stderr: "" });

  const records = readLog(join(folder, "run"));
  const events = records.filter((record) => record.kind === "event").filter(({ name }) => name === "tau");
  expect(events.map(({ step }) => step)).toEqual([2, 3]);
  const summary = JSON.parse(readFileSync(join(folder, "run/summary.json"), "utf8"));
  expect(summary.tau).toEqual(
    events.map(({ step, data }) => ({ step, acceptance_length: new Map(Object.entries(data ?? {})).get("pooled") })),
  );

  const second = steps(records)[1]!;
  expect(second.tags).toEqual(expect.arrayContaining(["eval", "checkpoint"]));
  const training = second.ms - second.sections["eval"]!.ms!;
  expect(second.metrics["tokens_per_s"]).toBeCloseTo((1000 * second.metrics["tokens"]!) / training, 6);
  expect(steps(records)[0]!.sections["eval"]).toMatchObject({ ms: null });

  // What the target and the drafter do for it is no part of the training step's forwards.
  expect(second.sections["eval"]!.self_ms).toBe(second.sections["eval"]!.ms);
  expect(second.sections["target/mlp"]!.n).toBe(steps(records)[0]!.sections["target/mlp"]!.n);

  const checkpoints = await listCheckpoints(join(folder, "run/checkpoints"));
  const scores = summary.tau.map(({ acceptance_length: length }: { acceptance_length: number }) => length);
  expect(checkpoints.map(({ state }) => state.score)).toEqual(scores);
  expect(bestCheckpoint(checkpoints)!.state.score).toBe(Math.max(...scores));

  const drafter = ["--drafter", "run/checkpoints/step-00000003", "--threads", "1", "--engine", "wasm"];
  const options = ["--prompts", "2", "--batch", "2", "--max-new-tokens", "12", "--no-baseline", "--json", "eval.json"];
  await dflash(["eval", ...drafter, ...options], folder);
  const { acceptance } = JSON.parse(readFileSync(join(folder, "eval.json"), "utf8"));
  expect(events[1]!.data).toMatchObject({ step: 3, prompts: 2, ...acceptance });
});

test("with data of one's own, measuring needs prompts of one's own", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "mine.jsonl"), '{"text":"a text"}\n');
  const { code, stderr } = await dflash(["train", "--data", "mine.jsonl", "--eval-every", "2"], folder);
  expect(code).toBe(1);
  expect(stderr).toBe("dflash: --eval-every needs --eval-data: chat records whose questions are not in --data\n");
});
