import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createTimer, type TimerOptions } from "./createTimer.ts";
import type { ReportSnapshot, Timer } from "./timer.ts";

/** A timer on a clock that moves only when told to, and the reports it has made. */
function virtual(options: Omit<TimerOptions, "clock"> = {}): {
  timer: Timer;
  pass: (ns: number) => void;
  reports: ReportSnapshot[];
} {
  let now = 5_000_000_000_123n;
  const reports: ReportSnapshot[] = [];
  const timer = createTimer({ ...options, clock: () => now });
  timer.on("report", (report) => reports.push(report.snapshot()));
  return { timer, reports, pass: (ns) => (now += BigInt(ns)) };
}

const ns = (ms: number | null): number => Math.round((ms ?? 0) * 1e6);

describe("createTimer", () => {
  it("splits a step into self times and a residual", () => {
    const { timer, pass, reports } = virtual();
    const load = timer.section("load");
    const fit = timer.section("fit");
    timer.section("never");
    timer.step(() => {
      pass(1_000);
      fit.start();
      pass(300_000);
      load.time(() => pass(4_000));
      fit.stop();
      load.time(() => pass(20_000));
    });
    expect(reports).toMatchObject([
      {
        step: 1,
        ms: 0.325,
        residualMs: 0.001,
        unbalanced: 0,
        sections: {
          load: { ms: 0.024, selfMs: 0.024, count: 2, parent: "fit" },
          fit: { ms: 0.304, selfMs: 0.3, count: 1, parent: null },
          never: { ms: null, selfMs: null, count: 0, reason: "not reached" },
        },
      },
    ]);
  });

  it("awaits async sections and steps, and hands their value or error on", async () => {
    const { timer, pass, reports } = virtual();
    const load = timer.section("load");
    const value = await timer.step(async () => {
      const rows = await load.time(async () => {
        pass(1_000);
        await Promise.resolve();
        pass(1_000);
        return 3;
      });
      pass(500);
      return rows;
    });
    expect(value).toBe(3);
    await expect(timer.step(() => load.time(() => Promise.reject(new Error("no file"))))).rejects.toThrow("no file");
    expect(() => timer.step(() => load.time(() => expect.fail("no row")))).toThrow("no row");
    expect(reports.map((report) => [report.sections.load?.count, report.ms, report.unbalanced])).toEqual([
      [1, 0.0025, 0],
      [1, 0, 0],
      [1, 0, 0],
    ]);
  });

  it("charges sections between two steps to the next one, whose start moves back", () => {
    const { timer, pass, reports } = virtual();
    const log = timer.section("log");
    timer.step(() => pass(1_000));
    pass(7_000);
    log.time(() => pass(200));
    pass(30);
    timer.step(() => pass(1_000));
    expect(reports[1]).toMatchObject({
      startMs: 0.008,
      ms: 0.00123,
      residualMs: 0.00103,
      sections: { log: { ms: 0.0002, parent: null } },
    });
  });

  it("counts inline work of another lane once, as a child of the section it ran in", () => {
    const { timer, pass, reports } = virtual({ lane: "drafter" });
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
    const { timer, pass, reports } = virtual({ lane: "drafter" });
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

  it("records nothing while off, and knows the step when it is on again", () => {
    const { timer, pass, reports } = virtual();
    const fit = timer.section("fit");
    const step = (): void => timer.step(() => fit.time(() => pass(1_000)));
    step();
    timer.enabled = false;
    step();
    timer.enabled = true;
    step();
    timer.step(() => (timer.enabled = false));
    step();
    expect(reports.map((report) => [report.step, report.ms, report.unbalanced])).toEqual([
      [1, 0.001, 0],
      [3, 0.001, 0],
      [4, 0, 0],
    ]);
  });

  it("counts calls without a partner and still closes", () => {
    const { timer, pass, reports } = virtual();
    const a = timer.section("a");
    const b = timer.section("b");
    timer.step(() => {
      b.stop();
      a.start();
      pass(10);
      b.start();
      pass(20);
      a.stop();
      pass(30);
    });
    expect(reports[0]).toMatchObject({
      ms: 0.00006,
      residualMs: 0,
      unbalanced: 3,
      sections: { a: { ms: 0.00003, selfMs: 0.00001 }, b: { ms: 0.00005, selfMs: 0.00005 } },
    });
  });

  it("reports a throwing or rejecting listener once and calls the others", async () => {
    const complaints = vi.spyOn(console, "error").mockImplementation(() => {});
    const { timer, reports } = virtual();
    const bad = vi.fn<() => void>(() => expect.fail("full disk"));
    timer.on("report", bad);
    timer.on("report", async () => expect.fail("no network"));
    const last = vi.fn<() => void>();
    timer.on("report", last);
    for (let step = 0; step < 3; step += 1) timer.step(() => {});
    await Promise.resolve();
    timer.off("report", bad);
    timer.step(() => {});
    expect([bad.mock.calls.length, last.mock.calls.length, reports.length, complaints.mock.calls.length]).toEqual([
      3, 4, 4, 2,
    ]);
    complaints.mockRestore();
  });

  it("closes exactly for random sequences of calls on any lanes", () => {
    const calls = fc.array(
      fc.record({ call: fc.constantFrom("start", "stop", "step"), section: fc.nat(5), ns: fc.nat(2_000_000_000) }),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(calls, (sequence) => {
        const { timer, pass, reports } = virtual();
        const sections = ["main", "main", "main", "a", "a", "b"].map((lane, slot) =>
          timer.section(`s${slot}`, { lane, ...(slot % 2 ? { role: "wait" } : {}) }),
        );
        for (let i = 0; i < sequence.length;) {
          timer.step(() => {
            for (; i < sequence.length; i += 1) {
              const { call, section, ns: gap } = sequence[i]!;
              pass(gap);
              if (call === "step") break;
              sections[section]![call === "start" ? "start" : "stop"]();
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
            if (lane === "main") expect(ns(waitMs)).toBeGreaterThanOrEqual(selfNs(lane, true));
            else expect(ns(waitMs)).toBe(selfNs(lane, true));
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
});
