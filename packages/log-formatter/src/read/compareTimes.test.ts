import { expect, test } from "vitest";
import { stepOf } from "../record.test-support.ts";
import type { StepRecord } from "../record.ts";
import { compareTimes, formatComparison, regressions } from "./compareTimes.ts";
import { sectionTimes } from "./sectionTimes.ts";
import { watchBaseline } from "./watchBaseline.ts";

/** A run of steps whose sections vary by ±5 % around the given times. */
function run(times: Record<string, number>, steps = 100, from = 1): StepRecord[] {
  return Array.from({ length: steps }, (_, index) => {
    const sway = 1 + (((index * 37) % 101) - 50) / 1000;
    const sections = Object.fromEntries(
      Object.entries(times).map(([name, ms]) => [name, { ms: ms * sway, self_ms: ms * sway, n: 1 }]),
    );
    const ms = Object.values(times).reduce((sum, part) => sum + part, 1) * sway;
    return stepOf(from + index, { ms, residual_ms: sway, sections });
  });
}

test("times of a run are its quartiles; warm-up steps and missing values do not count", async () => {
  const warm = stepOf(1, { ms: 1e6, tags: ["warmup"] });
  const missing = stepOf(2, { ms: 101, sections: { a: { ms: null, self_ms: null, n: 0 } } });
  const times = await sectionTimes([
    warm,
    missing,
    ...Array.from({ length: 100 }, (_, index) =>
      stepOf(3 + index, { ms: index + 1, sections: { a: { ms: index + 1, self_ms: 1, n: 1 } } }),
    ),
  ]);
  expect(times.get("a")!.n).toBe(100);
  expect(times.get("(step)")!.n).toBe(101);
  for (const [found, exact] of [
    [times.get("a")!.p25, 25],
    [times.get("a")!.median, 50],
    [times.get("a")!.p75, 75],
  ] as const) {
    expect(Math.abs(found / exact - 1)).toBeLessThan(0.002);
  }
});

const times = async (ms: number) => sectionTimes(run({ backward: ms }, 1));

test("a single step is never certain: nobody knows how much it varies", async () => {
  const changes = compareTimes(await times(10), await times(20));
  expect(changes.map(({ certain }) => certain)).toEqual([false, false, false]);
  expect(regressions(changes, 0.1)).toEqual([]);
});

test("what became slower or faster is told from what only varies", async () => {
  const before = await sectionTimes(run({ load: 10, backward: 40, loss: 5, gone: 1 }));
  const after = await sectionTimes(run({ load: 10, backward: 49.2, loss: 4, added: 1 }));
  const changes = compareTimes(before, after);
  const of = Object.fromEntries(
    changes.map(({ name, change, certain }) => [name, [change === null ? null : Math.round(change * 100), certain]]),
  );
  expect(of).toMatchObject({
    load: [0, false],
    backward: [23, true],
    loss: [-20, true],
    gone: [null, false],
    added: [null, false],
  });
  expect(regressions(changes, 0.1).map(({ name }) => name)).toEqual(["backward", "(step)"]);
  expect(regressions(changes, 0.5)).toEqual([]);
  const text = formatComparison(changes);
  expect(text).toMatch(/^section +before ms +after ms +change\n/);
  expect(text).toMatch(/^backward +\d\d\.\d{3} ± \d\.\d{3} +\d\d\.\d{3} ± \d\.\d{3} +\+2[23]\.\d % +slower$/m);
  expect(text).toMatch(/^loss .* -\d+\.\d % +faster$/m);
  expect(text).toMatch(/^gone .* - +gone$/m);
});

/** Five steps that vary by a factor of four. */
function noisy(medianMs: number): StepRecord[] {
  return [0.5, 0.8, 1, 1.4, 2].map((factor, index) =>
    stepOf(index + 1, { sections: { a: { ms: medianMs * factor, self_ms: 1, n: 1 } } }),
  );
}

test("a difference within the spread of few steps is not certain", async () => {
  const [a] = compareTimes(await sectionTimes(noisy(10)), await sectionTimes(noisy(11.5))).filter(
    ({ name }) => name === "a",
  );
  expect(a!.change).toBeCloseTo(0.15, 2);
  expect(a!.certain).toBe(false);
});

test("a run is held against its baseline while it goes on", async () => {
  const watch = watchBaseline(await sectionTimes(run({ load: 10, backward: 40 })));
  const events = [...run({ load: 10, backward: 40 }, 39), ...run({ load: 10, backward: 49.2 }, 60, 40)].flatMap(
    (record) => watch(record),
  );
  const backward = events.filter(({ data }) => (data as { section: string }).section === "backward");
  expect(backward).toHaveLength(1);
  expect(backward[0]).toMatchObject({ kind: "event", name: "baseline", data: { since: 40 } });
  expect((backward[0]!.data as { message: string }).message).toMatch(
    /^backward \+2\d % against baseline since step 40$/,
  );
  expect(backward[0]!.step).toBeGreaterThan(40);
  expect(backward[0]!.step).toBeLessThanOrEqual(60);
  expect(events.some(({ data }) => (data as { section: string }).section === "load")).toBe(false);
});

test("what comes back and goes again is reported again, and single slow steps never", async () => {
  const baseline = await sectionTimes(run({ work: 40 }));
  const watch = watchBaseline(baseline, { threshold: 0.2 });
  const phases = [40, 60, 40, 60].flatMap((ms, index) => run({ work: ms }, 50, index * 50 + 1));
  const events = phases
    .flatMap((record) => watch(record))
    .filter(({ data }) => (data as { section: string }).section === "work");
  expect(events.map(({ data }) => (data as { since: number }).since)).toEqual([51, 151]);
  const spikes = watchBaseline(baseline);
  const rare = run({ work: 40 }, 200).map((record, index) =>
    index % 5 === 0 ? { ...record, ms: 400, sections: { work: { ms: 400, self_ms: 400, n: 1 } } } : record,
  );
  expect(rare.flatMap((record) => spikes(record))).toEqual([]);
});
