import type { TargetHead } from "@dflash/target-forward";
import { beforeAll, expect, test } from "vitest";
import { describeEngines } from "../describeEngines.test-support.ts";
import { tinyBatch, tinyHead, tinyTraining, trainOn } from "../tinyDrafter.test-support.ts";

/** A GPU in software takes minutes. */
const timeout = 600_000;

describeEngines((ops) => {
  const steps = process.env["DFLASH_LONG"] === "1" ? 200 : 12;
  let head: TargetHead;
  beforeAll(async () => void (head = await tinyHead(ops())));

  test("the same seed gives the same losses bit for bit, another seed others", async () => {
    const runs: (number | null)[][] = [];
    for (const seed of [1, 1, 2]) {
      const { step, dispose } = await tinyTraining(ops(), head, { seed });
      const losses: (number | null)[] = [];
      for (let index = 0; index < 2; index++) {
        const batch = await tinyBatch(ops(), { index, lengths: [10 + (index % 5), 6 + (index % 3)] });
        losses.push((await trainOn(step, batch)).loss);
        batch.dispose();
      }
      runs.push(losses);
      dispose();
    }
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[2]).not.toEqual(runs[0]);
  });

  test(`keeps as many tensors after each of ${steps} steps`, { timeout }, async () => {
    const { step, dispose } = await tinyTraining(ops(), head);
    const counts = new Set<number>();
    for (let index = 0; index < steps; index++) {
      const supervised = index % 10 === 9 ? () => false : undefined;
      const batch = await tinyBatch(ops(), { index, lengths: [7 + (index % 6)], ...(supervised && { supervised }) });
      await trainOn(step, batch);
      batch.dispose();
      counts.add(ops().engine.memory().tensors);
    }
    expect(counts.size).toBe(1);
    dispose();
  });
});
