import { expect, it } from "vitest";
import { mergeReports } from "./mergeReports.ts";
import type { ReportSnapshot } from "../report.ts";
import { virtualTimer } from "../virtualTimer.test-support.ts";

function rank(sections: Record<string, number>, also: string[] = []): ReportSnapshot {
  const { timer, pass, reports } = virtualTimer();
  for (const name of also) timer.section(name);
  timer.step(() => {
    for (const [name, ms] of Object.entries(sections)) timer.section(name).time(() => pass(ms * 1e6));
  });
  return reports[0]!;
}

it("merges by the union of names, whatever each report has", () => {
  const merged = mergeReports({
    "rank 0": rank({ forward: 30, backward: 40 }, ["never"]),
    "rank 1": rank({ forward: 34, load: 5 }),
    "rank 2": rank({ backward: 90, forward: 31 }, ["load"]),
    "rank 3": rank({ forward: 33 }),
  });
  expect(merged.sections).toEqual({
    forward: { minMs: 30, medianMs: 32, maxMs: 34, slowest: "rank 1", n: 4, missing: 0 },
    backward: { minMs: 40, medianMs: 65, maxMs: 90, slowest: "rank 2", n: 2, missing: 2 },
    load: { minMs: 5, medianMs: 5, maxMs: 5, slowest: "rank 1", n: 1, missing: 3 },
    never: null,
  });
  expect(merged.step).toMatchObject({ minMs: 33, maxMs: 121, slowest: "rank 2", n: 4 });
  expect(mergeReports({})).toEqual({ step: null, residual: null, sections: {} });
});
