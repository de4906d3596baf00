import { describe, expect, it } from "vitest";
import { absurd, balanced, type Case, seeded, settling } from "./cases.test-support.ts";
import { findBottleneck } from "./findBottleneck.ts";
import { playPipeline } from "./pipeline.test-support.ts";
import { remedies } from "./remedies.test-support.ts";

const seeds = Array.from({ length: 10 }, (_, i) => 1 + i * 7919);
const judge = ({ dispatchUs, ...pipeline }: Case, seed: number): ReturnType<typeof findBottleneck> =>
  findBottleneck(playPipeline({ ...pipeline, seed }), dispatchUs === undefined ? {} : { dispatchUs });

const evaluating = (step: number) => (step === 9 ? { extraUs: 60_000_000, mark: "eval" } : {});

/** Steps a second of the virtual clock, once the queue has filled. */
function rate(pipeline: Case, seed: number): number {
  const settled = playPipeline({ ...pipeline, seed }).slice(8);
  return (1000 * settled.length) / settled.reduce((ms, { report }) => ms + report.ms, 0);
}

describe("findBottleneck", () => {
  it.each(Object.keys(seeded))("names %s", (name) => {
    const wanted = name.slice(0, name.indexOf(":"));
    const verdicts = seeds.map((seed) => judge(seeded[name]!, seed));
    expect(verdicts.filter(({ cause }) => cause === wanted).length).toBeGreaterThanOrEqual(9);
    for (const { share, confidence, advice } of verdicts) {
      expect(share).toBeGreaterThan(0);
      expect(share).toBeLessThanOrEqual(1);
      expect(confidence).toBeLessThanOrEqual(1);
      expect(advice).not.toMatch(/\n/);
    }
  });

  it.each(Object.keys(remedies))("gives advice that makes it faster: %s", (name) => {
    const { says, change, tokens = 1 } = remedies[name]!;
    for (const seed of seeds.slice(0, 3)) {
      const before = seeded[name]!;
      const { cause, advice } = judge(before, seed);
      expect(cause === name.slice(0, name.indexOf(":")) ? advice : says).toContain(says);
      expect(tokens * rate(change(before), seed)).toBeGreaterThan(1.05 * rate(before, seed));
    }
  });

  it("has a remedy for each cause that costs time", () => {
    const without = Object.keys(seeded).filter((name) => !Object.hasOwn(remedies, name));
    expect(without.map((name) => name.split(":")[0])).toEqual(["tensor-leak", "residual"]);
  });

  it.each(Object.keys(balanced))("is not sure of anything when a run is balanced: %s", (name) => {
    for (const seed of seeds) {
      const { cause, confidence } = judge(balanced[name]!, seed);
      expect(cause === "balanced" || confidence < 0.8).toBe(true);
    }
  });

  it.each(["target-bound: inline", "data-bound: in the producer", "queue: capacity of one, batches in bursts"])(
    "looks past an evaluation that takes longer than all steps: %s",
    (name) => {
      const found = seeded[name]!;
      for (const seed of seeds.slice(0, 3))
        expect(judge({ ...found, engine: evaluating }, seed).cause).toBe(judge(found, seed).cause);
    },
  );

  it.each(Object.keys(settling))(
    "does not blame the allocator for new shapes that settle or cost training nothing: %s",
    (name) => {
      for (const seed of seeds) expect(judge(settling[name]!, seed).cause).not.toBe("allocator-churn");
    },
  );

  it("gives shares from 0 to 1 after every step, whatever it is told", () => {
    for (const { dispatchUs, ...pipeline } of [...Object.values(seeded), ...Object.values(settling), absurd]) {
      const steps = playPipeline({ ...pipeline, steps: Math.min(pipeline.steps ?? 16, 16), seed: 3 });
      for (let count = 1; count <= steps.length; count += 1) {
        const facts = dispatchUs === undefined ? {} : { dispatchUs };
        const { share, confidence } = findBottleneck(steps.slice(0, count), facts);
        expect(Math.min(share, confidence)).toBeGreaterThanOrEqual(0);
        expect(Math.max(share, confidence)).toBeLessThanOrEqual(1);
      }
    }
  });

  it("says of steps that it has judged before, in another window or of another engine, what it says of new ones", () => {
    for (const { dispatchUs = 15, ...pipeline } of [...Object.values(seeded), ...Object.values(settling)]) {
      const steps = playPipeline({ ...pipeline, seed: 3 }).slice(0, 24);
      for (const facts of [{ dispatchUs }, {}])
        for (let from = 0; from + 12 <= steps.length; from += 4) {
          const window = steps.slice(from, from + 12);
          expect(findBottleneck(window, facts)).toEqual(findBottleneck(structuredClone(window), facts));
        }
    }
  });

  it("is sure of a clear case, and less sure after a few steps", () => {
    const steps = playPipeline({ ...seeded["target-bound: one worker"]!, seed: 5 });
    expect(findBottleneck(steps).confidence).toBeGreaterThan(0.8);
    expect(findBottleneck(steps.slice(10, 12)).confidence).toBeLessThan(0.5);
    expect(findBottleneck([])).toMatchObject({ cause: "balanced", confidence: 0 });
  });
});
