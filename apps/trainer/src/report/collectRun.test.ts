import { join } from "node:path";
import { createHeaderRecord, readLog } from "@dflash/log-formatter";
import { expect, test } from "vitest";
import { adviceFor } from "../adviceFor.ts";
import { temporaryFolder } from "../dflash.test-support.ts";
import { foldSmall, stagesBeside, stagesOf } from "./client/stages.ts";
import { collectRun } from "./collectRun.ts";
import type { RunData } from "./runData.ts";
import { writeSampleLog } from "./sampleLog.test-support.ts";

async function collect(options: Parameters<typeof writeSampleLog>[1]): Promise<RunData> {
  const folder = join(temporaryFolder(), "sample");
  writeSampleLog(folder, options);
  const collector = collectRun();
  for await (const record of readLog(join(folder, "log.ndjson"))) collector.add(record);
  return collector.data()!;
}

test("the parts of the step add up to its wall time, over the run and in every bin", async () => {
  const run = await collect({ steps: 2500 });
  const stages = stagesOf(run);
  expect(run.steps).toBe(2500);
  expect(run.from.length).toBeLessThanOrEqual(1000);
  expect(stages.reduce((sum, { ms }) => sum + ms, 0)).toBeCloseTo(run.totalMs, 3);
  for (const [bin, ms] of run.stepMs.entries())
    expect(stages.reduce((sum, { series }) => sum + (series[bin] ?? 0), 0)).toBeCloseTo(ms!, 1);
  expect(stagesBeside(run)).toEqual([]);
  const [folded] = foldSmall([run], [stages]);
  expect(folded!.reduce((sum, { ms }) => sum + ms, 0)).toBeCloseTo(run.totalMs, 3);
});

test("waiting is opened up, and a stage knows its own parts", async () => {
  const run = await collect({ steps: 50, targetMs: 40 });
  const stages = new Map(stagesOf(run).map((stage) => [stage.name, stage]));
  expect([...stages.keys()]).toEqual([
    "data",
    "target/forward",
    "drafter/forward",
    "drafter/backward",
    "drafter/optimizer",
    "in no section",
  ]);
  const target = stages.get("target/forward")!;
  expect(target.parts.map(({ name }) => name)).toEqual(["target/mlp"]);
  // What `writeSampleLog` lets pass: 40 ms of the target beside 20 ms of the backward pass, 24 ms of them in the MLP.
  expect(target.ms / stages.get("drafter/backward")!.ms).toBeCloseTo(2, 6);
  expect(target.parts[0]!.ms / target.ms).toBeCloseTo(0.6, 6);
});

test("a slow step is kept with its spans, and what held the run back comes with advice", async () => {
  const run = await collect({ steps: 300, slowAt: 150, targetMs: 400 });
  expect(run.slow.map(({ step }) => step)).toEqual([150]);
  expect(run.slow[0]!.steps.at(-1)!.spans.map(({ name }) => name)).toContain("target/mlp");
  expect(run.judgement).toMatchObject({ cause: "target-bound", advice: expect.stringContaining("--target-workers") });
  expect(run.judgement!.share).toBeGreaterThan(0.8);
});

test("a verdict of a loop of one's own comes without advice, whatever it is called", () => {
  expect(adviceFor("constructor", {})).toBeNull();
  expect(adviceFor("target[1]-bound", {})).toContain("--target-workers");
});

test("what is set already is no advice", () => {
  expect(adviceFor("queue", { minReady: 1 })).toBe("the queue holds back: a larger --queue");
  expect(adviceFor("queue", { minReady: 2 })).toBe("the queue holds back: --min-ready 1 and a larger --queue");
});

test("an event that is called slow and tells nothing of a step is a mark", () => {
  const collector = collectRun();
  const calibration = { cost_ns: 0, cost_cold_ns: 0, bias_ns: 0, resolution_ns: 0 };
  collector.add(createHeaderRecord({ run: "r", sections: [], calibration, config: {} }));
  const spans = { step: 1, startMs: 0, ms: 9, spans: [{ name: "a" }] };
  for (const data of [null, { step: 1, ms: 9, steps: [] }, { step: 1, ms: 9, medianMs: 1, steps: [spans] }])
    collector.add({ kind: "event", step: 1, name: "slow", data });
  expect(collector.data()!.slow).toEqual([]);
  expect(collector.data()!.marks).toHaveLength(3);
});
