import { array, assert, constantFrom, nat, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { readSpans } from "./readSpans.ts";
import type { Span } from "./span.ts";
import { virtualTimer } from "../virtualTimer.test-support.ts";

/** Time in which any of these was open, ms. */
function union(spans: readonly Span[]): number {
  let end = 0;
  return spans.reduce((sum, { startMs, ms }) => {
    const more = Math.max(0, startMs + ms - Math.max(end, startMs));
    end = Math.max(end, startMs + ms);
    return sum + more;
  }, 0);
}

/** A span of the first test. */
const spanOf = (name: string, startMs: number, ms: number, depth: number | null, lane = "main"): unknown => ({
  name,
  lane,
  local: true,
  startMs,
  ms,
  depth,
  kernels: [3, 3],
});

describe("readSpans", () => {
  it("gives the runs of a step, parents first, clipped to it, one track a lane", () => {
    const { timer, pass, reports } = virtualTimer({ probe: { kernels: 3 } });
    const [outer, inner, phase] = [timer.section("outer"), timer.section("inner"), timer.section("phase")];
    const target = timer.section("target", { lane: "target" });
    const read = timer.section("read");
    target.start();
    pass(5_000);
    timer.step(() => {
      pass(1_000);
      outer.start();
      const [a, b] = [read.begin(), read.begin()];
      inner.time(() => pass(2_000));
      a.end();
      pass(1_000);
      b.end();
      outer.stop();
      phase.lap();
      pass(3_000);
    });
    timer.step(() => {
      pass(7);
      target.stop();
    });
    const [first, second] = reports.map((report) => readSpans(timer, report)!);
    expect(first).toEqual([
      spanOf("outer", 0.006, 0.003, 0),
      spanOf("inner", 0.006, 0.002, 1),
      spanOf("read", 0.006, 0.002, null),
      spanOf("read", 0.006, 0.003, null),
      spanOf("phase", 0.009, 0.003, 0),
      spanOf("target", 0.005, 0.007, 0, "target"),
    ]);
    expect(second).toEqual([spanOf("target", 0.012, 0.000007, 0, "target")]);
  });

  it("is null once the recording has moved on", () => {
    const { timer, pass, reports } = virtualTimer();
    const fit = timer.section("fit");
    for (let step = 0; step < 5_000; step += 1) timer.step(() => fit.time(() => pass(10)));
    expect(readSpans(timer, reports[0]!)).toBeNull();
    expect(readSpans(timer, reports[4_999]!)).toHaveLength(1);
    expect(readSpans(timer, reports[4_300]!)).toHaveLength(1);
  });

  it("nests properly and agrees with the report for random sequences of calls", () => {
    const calls = array(
      record({ call: constantFrom("start", "stop", "lap", "add"), section: nat(4), ns: nat(1_000) }),
      { maxLength: 60 },
    );
    assert(
      property(array(calls, { minLength: 1, maxLength: 5 }), (steps) => {
        const { timer, pass, reports } = virtualTimer({ overlap: true });
        const handles = ["main", "main", "main", "other", "other"].map((lane, i) => timer.section(`s${i}`, { lane }));
        for (const sequence of steps) {
          timer.step(() => {
            for (const { call, section, ns } of sequence) {
              pass(ns);
              if (call === "add") handles[section]!.add("tokens", ns);
              else handles[section]![call]();
            }
            pass(1);
          });
        }
        const report = reports.at(-1)!;
        const spans = readSpans(timer, report)!;
        for (const [i, a] of spans.entries()) {
          expect(a.startMs).toBeGreaterThanOrEqual(report.startMs);
          expect(a.startMs + a.ms).toBeLessThanOrEqual(report.startMs + report.ms + 1e-9);
          const ends = spans
            .slice(i + 1)
            .filter((b) => b.lane === a.lane && b.startMs < a.startMs + a.ms - 1e-9)
            .map((b) => b.startMs + b.ms);
          // A section that is stopped out of order outlives the one around it; all others nest.
          expect(report.unbalanced > 0 || Math.max(0, ...ends) <= a.startMs + a.ms + 1e-9).toBe(true);
        }
        for (const [name, { ms }] of Object.entries(report.sections))
          expect(union(spans.filter((span) => span.name === name))).toBeCloseTo(ms ?? 0, 6);
      }),
    );
  });
});
