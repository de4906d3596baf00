import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { LogTarget } from "../logFormatter.ts";
import { displayWidth } from "../printable.ts";
import { headerOf, stepOf, wildStep } from "../record.test-support.ts";
import type { SectionSummary } from "../record.ts";
import { pretty } from "./pretty.ts";

const plain = (columns: number | null): LogTarget => ({ color: false, columns });
const colored: LogTarget = { color: true, columns: 100 };
/* oxlint-disable-next-line no-control-regex -- escape codes are what it removes */
const withoutCodes = (text: string): string => text.replaceAll(/\u001b\[\d+m/g, "");

test("a step in one line, however long, where there is no width", () => {
  expect(pretty(plain(null)).step(stepOf(12))).toBe(
    "step    12   48.1 ms  tok/s 1235  loss 3.25  acc 0.21  drafter-bound 94%  drafter/backward 45.0 ms (93.6%)  load 2.90 ms (6.0%)  rest 0.20 ms (0.4%)\n",
  );
});

test("the biggest sections by their own time, so that a parent does not count its children again", () => {
  const sections = Object.fromEntries(
    Array.from({ length: 9 }, (_, index) => [`s${index}`, { ms: 40, self_ms: index, n: 1 }]),
  );
  const line = pretty(plain(null)).step(stepOf(1, { sections, verdict: null, metrics: {} })) as string;
  expect(line.match(/s\d/g)).toEqual(["s8", "s7", "s6", "s5", "s4"]);
});

test("what is missing is a dash and never 0", () => {
  const line = pretty(plain(null)).step(
    stepOf(1, { metrics: { loss: null }, sections: { gpu: { ms: null, self_ms: null, n: 1 } } }),
  ) as string;
  expect(line).toContain("loss -");
  expect(line).not.toContain("gpu");
});

test("one's own metrics follow the known ones", () => {
  const line = pretty(plain(null)).step(
    stepOf(1, { metrics: { reward: 0.000_012_3, loss: 12_345, norm: 1.5, more: 1 }, sections: {} }),
  ) as string;
  expect(line).toContain("  loss 12.3k  reward 1.23e-5  norm 1.5  ");
  expect(line).not.toContain("more");
});

test("whatever is in a record, its line fits the width and holds no control character", () => {
  fc.assert(
    fc.property(wildStep, fc.integer({ min: 1, max: 200 }), (record, columns) => {
      const line = pretty(plain(columns)).step(record) as string;
      expect(line.indexOf("\n")).toBe(line.length - 1);
      expect(displayWidth(line.slice(0, -1))).toBeLessThanOrEqual(columns);
      expect(line.slice(0, -1)).not.toMatch(/\p{Cc}|\p{Surrogate}/u);
    }),
    { numRuns: 200 },
  );
});

test("colour changes nothing but the codes, and is off unless the target has it", () => {
  const records = [stepOf(1), stepOf(2, { metrics: { loss: null } })];
  for (const record of records) {
    const line = pretty(colored).step(record) as string;
    expect(line).toContain("\u001b[");
    expect(withoutCodes(line)).toBe(pretty(plain(100)).step(record));
  }
});

test("the width is read at each line", () => {
  const target = { color: false, columns: 200 };
  const formatter = pretty(target);
  expect((formatter.step(stepOf(1)) as string).length).toBeGreaterThan(100);
  target.columns = 30;
  expect((formatter.step(stepOf(1)) as string).length).toBeLessThanOrEqual(31);
});

test("a narrow terminal goes without the last columns of the summary", () => {
  const summary = {
    kind: "summary",
    from: 1,
    to: 2,
    sections: { "(step)": times(4000, 2000), a: times(1000, 0.5) },
  } as const;
  expect(pretty(plain(44)).summary!(summary)).toBe(
    [
      "steps 1-2   total   share      p50      p90",
      "(step)     4.00 s  100.0%   2.00 s   2.00 s",
      "a          1.00 s   25.0%  0.50 ms  0.50 ms",
      "",
    ].join("\n"),
  );
});

function times(sum_ms: number, p50: number | null): SectionSummary {
  return { n: 2, missing: 0, sum_ms, p50, p90: p50, p99: p50, max: p50 };
}

test("run, events and summary", () => {
  const formatter = pretty(plain(null));
  expect(formatter.header!(headerOf([], 2))).toBe("run a run  attempt 2  a host  2026-01-02T03:04:05.678Z\n");
  const message = "drafter/backward +23 % against baseline since step 40";
  expect(formatter.event!({ kind: "event", step: 51, name: "baseline", data: { message, change: 0.23 } })).toBe(
    `step    51  baseline  ${message}\n`,
  );
  expect(
    formatter.event!({
      kind: "event",
      step: 9,
      name: "tau",
      data: { tau: 2.0312, prompts: 100, kind: "greedy", list: [] },
    }),
  ).toBe("step     9  tau  tau 2.031  prompts 100  kind greedy\n");
  expect(
    formatter.summary!({
      kind: "summary",
      from: 1,
      to: 2,
      sections: { "(step)": times(4000, 2000), 数据: times(1000, 0.5), none: times(0, null) },
    }),
  ).toBe(
    [
      "steps 1-2    total   share      p50      p90      p99      max",
      "(step)      4.00 s  100.0%   2.00 s   2.00 s   2.00 s   2.00 s",
      "数据        1.00 s   25.0%  0.50 ms  0.50 ms  0.50 ms  0.50 ms",
      "none       0.00 ms    0.0%        -        -        -        -",
      "",
    ].join("\n"),
  );
});
