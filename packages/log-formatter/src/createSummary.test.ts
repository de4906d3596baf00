import { expect, test } from "vitest";
import { createSummary } from "./createSummary.ts";
import { stepOf } from "./record.test-support.ts";

test("the summary of known steps", () => {
  const summary = createSummary();
  // 1 to 100 ms, in an order that is not sorted.
  for (let step = 1; step <= 100; step++) {
    const ms = ((step * 37) % 100) + 1;
    summary.add(stepOf(step, { ms: ms + 1, residual_ms: 1, sections: { work: { ms, self_ms: ms, n: 1 } } }));
  }
  const { from, to, sections } = summary.record()!;
  expect([from, to]).toEqual([1, 100]);
  expect(Object.keys(sections)).toEqual(["(step)", "work", "(residual)"]);
  expect(sections["work"]).toMatchObject({ n: 100, missing: 0, sum_ms: 5050, max: 100 });
  for (const [name, exact] of [
    ["p50", 50],
    ["p90", 90],
    ["p99", 99],
  ] as const) {
    expect(Math.abs(sections["work"]![name]! / exact - 1)).toBeLessThanOrEqual(0.032);
  }
  expect(sections["(residual)"]).toEqual({ n: 100, missing: 0, sum_ms: 100, p50: 1, p90: 1, p99: 1, max: 1 });
});

test("steps without a value are missing and count in no percentile, until a late record brings it", () => {
  const summary = createSummary();
  for (const step of [1, 2, 3])
    summary.add(stepOf(step, { sections: { device: { ms: null, self_ms: null, n: 1, reason: "pending" } } }));
  expect(summary.record()!.sections["device"]).toMatchObject({ n: 0, missing: 3, sum_ms: 0, p50: null, max: null });
  summary.add({ kind: "late", step: 2, sections: { device: { ms: 4 }, unknown: { ms: 1 } } });
  expect(summary.record()!.sections["device"]).toMatchObject({ n: 1, missing: 2, sum_ms: 4, p50: 4, max: 4 });
  expect(summary.record()!.sections["unknown"]).toBeUndefined();
});

test("before the first step there is none", () => {
  expect(createSummary().record()).toBeNull();
});

test("a section may have any name", () => {
  const summary = createSummary();
  summary.add(stepOf(1, { sections: Object.fromEntries([["__proto__", { ms: 2, self_ms: 2, n: 1 }]]) }));
  expect(Object.keys(summary.record()!.sections)).toEqual(["(step)", "__proto__", "(residual)"]);
});
