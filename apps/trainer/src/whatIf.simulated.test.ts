import type { StepRecord } from "@dflash/log-formatter";
import { describe, expect, test } from "vitest";
import { judgeRun } from "./judgeRun.ts";
import { parseWhatIf, whatIf } from "./whatIf.ts";

/** A run whose every time is known. */
interface Run {
  readonly workers: number;
  readonly capacity: number;
  readonly minReady: number;
  /** Milliseconds that the target takes for a batch, and the drafter for its step. */
  readonly target: (batch: number) => number;
  readonly drafter: number;
}

const steps = 60;
const tokens = 100;

const section = (ms: number) => ({ ms, self_ms: ms, n: 1 });

/**
 * Plays a run on a virtual clock, written straight from what a bounded queue is: a batch begins once its worker is free and the queue
 * has a place, and a step once `minReady` batches are there. Gives the records that its log would have.
 */
function play({ workers, capacity, minReady, target, drafter }: Run): StepRecord[] {
  const [done, taken, free]: [number[], number[], number[]] = [[], [], Array(Math.max(1, workers)).fill(0)];
  const records: StepRecord[] = [];
  let now = 0;
  for (let step = 0; step < steps; step++) {
    const start = now;
    if (workers === 0) now += target(step);
    const wanted = workers === 0 ? 0 : step + minReady;
    for (let batch = done.length; batch < wanted; batch++) {
      const worker = free.indexOf(Math.min(...free));
      const begin = Math.max(free[worker]!, taken[batch - capacity] ?? 0);
      free[worker] = begin + target(batch);
      done[batch] = Math.max(free[worker], done[batch - 1] ?? 0);
    }
    if (workers > 0) now = Math.max(now, done[wanted - 1]!);
    taken[step] = now;
    const wait = now - start;
    now += drafter;
    records.push({
      kind: "step",
      step: step + 1,
      ms: now - start,
      sections: {
        "queue/wait": section(wait),
        "target/forward": section(target(step)),
        "drafter/backward": section(drafter),
      },
      metrics: { tokens },
      tags: step === 0 ? ["warmup"] : [],
      verdict: { cause: "target-bound", share: 0.5, confidence: 1 },
    } as unknown as StepRecord);
  }
  return records;
}

/** Tokens a second after the first step, which fills the queue. */
function rate(records: readonly StepRecord[]): number {
  const settled = records.slice(1);
  return (1000 * tokens * settled.length) / settled.reduce((sum, { ms }) => sum + ms, 0);
}

const configOf = ({ workers, capacity, minReady }: Run) => ({
  threads: 1,
  targetWorkers: workers,
  queue: capacity,
  minReady,
});
const one: Run = { workers: 1, capacity: 4, minReady: 1, target: () => 170, drafter: 75 };
const bursts = (batch: number): number => (batch % 4 === 0 ? 160 : 40);

describe("what is changed as advised is as much faster as the replay of the run before predicted", () => {
  test.each<[string, Run, Partial<Run>, string]>([
    ["target-bound: inline", { ...one, workers: 0 }, { workers: 1 }, "target-workers=1"],
    ["target-bound: one worker", one, { workers: 2 }, "target-workers=2"],
    [
      "target-bound: one worker, minReady as high as its capacity",
      { ...one, capacity: 3, minReady: 3 },
      { workers: 2, minReady: 1 },
      "target-workers=2,min-ready=1",
    ],
    [
      "queue: minReady as high as its capacity, batches in bursts",
      { ...one, capacity: 8, minReady: 8, target: bursts },
      { minReady: 1 },
      "min-ready=1",
    ],
  ])("%s", (_, before, change, asked) => {
    const [slow, fast] = [play(before), play({ ...before, ...change })];
    expect(rate(fast)).toBeGreaterThan(1.05 * rate(slow));
    const { predicted } = whatIf({ config: configOf(before) }, slow, parseWhatIf(`${asked},cores=8`));
    expect(Math.abs(predicted.tokensPerSecond / rate(fast) - 1)).toBeLessThan(0.1);
  });

  test("where a queue that must be full makes a second worker useless, both are predicted together", () => {
    const run = { ...one, capacity: 3, minReady: 3 };
    const alone = play({ ...run, workers: 2 });
    expect(rate(alone)).toBeLessThan(1.05 * rate(play(run)));
    const judgement = judgeRun({ config: configOf(run) }, play(run), new Map([["target-bound", steps]]));
    expect(judgement?.predictions[0]?.flags).toBe("--target-workers 2 --min-ready 1");
  });
});
