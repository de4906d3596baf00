import { array, assert, constantFrom, nat, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { virtualTimer } from "../virtualTimer.test-support.ts";

const ns = (ms: number | null): number => Math.round((ms ?? 0) * 1e6);

describe("overlapLanes", () => {
  it("counts inline work of another lane once, as a child of the section it ran in", () => {
    const { timer, pass, reports } = virtualTimer({ overlap: true, lane: "drafter" });
    const wait = timer.section("queue/wait", { role: "wait", waitsFor: "target" });
    const forward = timer.section("target/forward", { lane: "target" });
    const layer = timer.section("target/layer", { lane: "target" });
    const backward = timer.section("backward");
    timer.step(() => {
      wait.time(() => {
        pass(10);
        forward.time(() => {
          pass(200);
          layer.time(() => pass(3_000));
        });
        pass(5);
      });
      backward.time(() => pass(40_000));
    });
    expect(reports[0]).toMatchObject({
      sections: {
        "queue/wait": { ms: 0.003215, selfMs: 0.000015, parent: null, waitsFor: "target" },
        "target/forward": { ms: 0.0032, selfMs: 0.0002, parent: "queue/wait", lane: "target" },
        "target/layer": { parent: "target/forward" },
      },
      residualMs: 0,
      lanes: {
        drafter: { busyMs: 0.04, waitMs: 0.003215, overlap: 0 },
        target: { busyMs: 0.0032, waitMs: 0, overlap: 0 },
      },
    });
  });

  it("lets lanes overlap when both are open", () => {
    const { timer, pass, reports } = virtualTimer({ overlap: true, lane: "drafter" });
    const backward = timer.section("backward");
    const forward = timer.section("target/forward", { lane: "target" });
    timer.step(() => {
      backward.start();
      pass(100);
      forward.start();
      pass(300);
      backward.stop();
      pass(600);
    });
    timer.step(() => pass(1_000));
    forward.stop();
    expect(reports).toMatchObject([
      {
        ms: 0.001,
        residualMs: 0.0006,
        sections: { backward: { ms: 0.0004 }, "target/forward": { ms: 0.0009, count: 0, parent: null } },
        lanes: { drafter: { busyMs: 0.0004, overlap: 0.75 }, target: { busyMs: 0.0009, overlap: 1 / 3 } },
      },
      { residualMs: 0.001, sections: { "target/forward": { ms: 0.001 } } },
    ]);
  });

  it("takes overlapping runs by tokens: their union, and no self time", () => {
    const { timer, pass, reports } = virtualTimer({ overlap: true, lane: "drafter", strict: true });
    const read = timer.section("read", { lane: "data" });
    const fit = timer.section("fit");
    timer.step(() => {
      const first = read.begin();
      pass(10);
      const second = read.begin();
      fit.start();
      pass(100);
      first.end();
      pass(1_000);
      fit.stop();
      second.end();
      pass(10_000);
      read.begin();
    });
    expect(reports[0]).toMatchObject({
      sections: {
        read: { ms: 0.00111, selfMs: null, reason: "overlapping", count: 2 },
        fit: { ms: 0.0011, selfMs: 0.0011 },
      },
      lanes: { data: { busyMs: 0.00111, residualMs: 0.01, overlapMs: { drafter: 0.0011 } } },
    });
    expect(() => timer.step(() => read.begin().end())).not.toThrow();
  });

  it("closes exactly for random sequences of calls on any lanes", () => {
    const calls = array(
      record({ call: constantFrom("start", "stop", "lap", "step"), section: nat(5), ns: nat(2_000_000_000) }),
      { maxLength: 200 },
    );
    assert(
      property(calls, (sequence) => {
        const { timer, pass, reports } = virtualTimer({ overlap: true });
        const handles = ["main", "main", "main", "a", "a", "b"].map((lane, slot) =>
          timer.section(`s${slot}`, { lane, ...(slot % 2 ? { role: "wait" } : {}) }),
        );
        for (let i = 0; i < sequence.length;) {
          timer.step(() => {
            for (; i < sequence.length; i += 1) {
              const { call, section, ns: gap } = sequence[i]!;
              pass(gap);
              if (call === "step") break;
              handles[section]![call]();
            }
          });
          i += 1;
        }
        for (const report of reports) {
          const sections = Object.values(report.sections);
          const selfNs = (lane: string, wait: boolean): number =>
            sections.reduce(
              (sum, section) =>
                sum + (section.lane === lane && (section.role === "wait") === wait ? ns(section.selfMs) : 0),
              0,
            );
          for (const [lane, { busyMs, waitMs, residualMs }] of Object.entries(report.lanes)) {
            expect(ns(busyMs)).toBe(selfNs(lane, false));
            expect(ns(busyMs) + ns(waitMs) + ns(residualMs)).toBe(ns(report.ms));
            // The own lane's waiting includes what other lanes did inside it.
            const inlineNs = ns(waitMs) - selfNs(lane, true);
            expect(lane === "main" ? Math.min(inlineNs, 0) : inlineNs).toBe(0);
          }
          expect(report.lanes.main!.residualMs).toBe(report.residualMs);
          for (const section of sections) expect(section.selfMs ?? 0).toBeLessThanOrEqual(section.ms ?? 0);
          for (
            let { parent } = report.sections.s0!, hops = 0;
            parent !== null;
            { parent } = report.sections[parent]!, hops += 1
          )
            expect(hops).toBeLessThan(6);
        }
      }),
    );
  });

  it("tells how twelve lanes overlap", () => {
    const { timer, reports, pass } = virtualTimer({ overlap: true });
    const lanes = Array.from({ length: 11 }, (_, i) => timer.section(`s${i}`, { lane: `lane ${i}` }));
    timer.step(() => {
      const open = lanes.map((section) => {
        pass(1);
        return section.begin();
      });
      for (const token of open) {
        pass(1);
        token.end();
      }
    });
    // Lane i is open for 11 ns; lanes i < j together from the start of j to the end of i.
    const { lanes: told } = reports[0]!;
    for (let i = 0; i < 11; i++) {
      expect(told[`lane ${i}`]!.busyMs).toBeCloseTo(11e-6, 9);
      for (let j = i + 1; j < 11; j++)
        expect(told[`lane ${i}`]!.overlapMs[`lane ${j}`]).toBeCloseTo((11 - (j - i)) * 1e-6, 9);
    }
  });

  it("refuses more lanes than it holds", () => {
    const { timer } = virtualTimer({ overlap: true });
    for (let i = 1; i < 12; i += 1) timer.section(`s${i}`, { lane: `lane ${i}` });
    expect(() => timer.section("x", { lane: "thirteenth" })).toThrow(
      'timer: lane "thirteenth" is one more than the 12 that a timer holds; use one of main, lane 1',
    );
  });
});
