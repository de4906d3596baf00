import vm from "node:vm";
import { describe, expect, it, vi } from "vitest";
import { createTimer } from "./createTimer.ts";
import { virtualTimer as makeTimer, type VirtualTimerOptions } from "./virtualTimer.test-support.ts";

/** As query builders have it: nothing happens before somebody waits. */
class Lazy implements PromiseLike<number> {
  // oxlint-disable-next-line unicorn/no-thenable -- this is what is tested
  readonly then: PromiseLike<number>["then"] = async (fulfilled) => Promise.resolve(3).then(fulfilled);
}

describe.each([false, true])("createTimer, with lanes that may overlap: %s", (overlap) => {
  const virtualTimer = (options: VirtualTimerOptions = {}): ReturnType<typeof makeTimer> =>
    makeTimer({ ...options, overlap });

  it("splits a step into self times and a residual", () => {
    const { timer, pass, reports } = virtualTimer();
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
    const { timer, pass, reports } = virtualTimer();
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

  it.each([
    ["a promise of another realm", () => vm.runInNewContext("Promise.resolve(3)") as PromiseLike<number>],
    ["a library's promise", () => new Lazy()],
  ])("awaits %s", async (_, make) => {
    const { timer, pass, reports } = virtualTimer();
    const load = timer.section("load");
    const value = await timer.step(async () => {
      const loading = load.time(make);
      pass(1_000);
      return loading;
    });
    expect(value).toBe(3);
    expect(reports.map(({ sections }) => sections.load)).toMatchObject([{ ms: 0.001, count: 1 }]);
    // What only looks like one is handed on as it is.
    const rule: unknown = JSON.parse('{ "if": 1, "then": 2 }');
    expect(load.time(() => rule)).toBe(rule);
  });

  it("charges sections between two steps to the next one, whose start moves back", () => {
    const { timer, pass, reports } = virtualTimer();
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

  it("records nothing while off, and knows the step when it is on again", () => {
    const { timer, pass, reports } = virtualTimer();
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
    const { timer, pass, reports } = virtualTimer();
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
    const { timer, reports } = virtualTimer();
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

  it("refuses a listener that is none", () => {
    const { timer } = virtualTimer();
    const none: unknown = undefined;
    // oxlint-disable-next-line no-unsafe-type-assertion -- what JavaScript may pass
    expect(() => timer.on("report", none as () => void)).toThrow("The listener must be a function");
  });

  it("times contiguous phases by laps, which end with the next, with the section around them, or with the step", () => {
    const { timer, pass, reports } = virtualTimer({ strict: true });
    const [a, b, outer] = [timer.section("a"), timer.section("b"), timer.section("outer")];
    timer.step(() => {
      a.lap();
      pass(10);
      b.lap();
      pass(200);
      a.lap();
      pass(3_000);
      a.stop();
      outer.start();
      pass(4);
      b.lap();
      pass(50);
      outer.stop();
      a.lap();
      pass(600);
    });
    expect(reports[0]).toMatchObject({
      residualMs: 0,
      unbalanced: 0,
      sections: {
        a: { ms: 0.00361, count: 3 },
        b: { ms: 0.00025, count: 2 },
        outer: { ms: 0.000054, selfMs: 0.000004 },
      },
    });
  });

  it("gives each instant of overlapping async calls to the one that began last", async () => {
    const { timer, pass, reports } = virtualTimer({ strict: true });
    const [a, b] = [timer.section("a"), timer.section("b")];
    const opened: (() => void)[] = [];
    const gate = new Promise<void>((resolve) => opened.push(resolve));
    await timer.step(async () => {
      const first = a.time(async () => gate);
      pass(10);
      const second = b.time(async () => {
        await first;
        await Promise.resolve();
        pass(1_000);
      });
      pass(200);
      opened[0]!();
      await second;
    });
    expect(reports[0]).toMatchObject({
      residualMs: 0,
      sections: { a: { ms: 0.00021, selfMs: 0.00001 }, b: { ms: 0.0012, selfMs: 0.0012 } },
    });
  });

  it("keeps a section that was open before the step open over several steps", () => {
    const { timer, pass, reports } = virtualTimer({ strict: true });
    const [epoch, fit] = [timer.section("epoch"), timer.section("fit")];
    epoch.start();
    for (let step = 0; step < 3; step += 1) timer.step(() => fit.time(() => pass(1_000)));
    epoch.stop();
    timer.step(() => {});
    expect(
      reports.map(({ ms, residualMs, unbalanced, sections }) => [
        ms,
        residualMs,
        unbalanced,
        sections.epoch!.ms,
        sections.epoch!.selfMs,
      ]),
    ).toEqual([
      [0.001, 0, 0, 0.001, 0],
      [0.001, 0, 0, 0.001, 0],
      [0.001, 0, 0, 0.001, 0],
      [0, 0, 0, null, null],
    ]);
  });

  it("throws on unbalanced calls in strict mode, naming the section", () => {
    const { timer } = virtualTimer({ strict: true });
    const [a, b] = [timer.section("a"), timer.section("b")];
    expect(() => a.stop()).toThrow('timer: section "a" is not the innermost open one; start it first, or use begin()');
    a.start();
    b.start();
    expect(() => a.stop()).toThrow('section "a"');
    expect(() => timer.step(() => a.start())).toThrow('section "a" is open at the end of step 1');
    expect(() => timer.step(() => timer.step(() => {}))).toThrow("step() inside step 2");
  });

  it("measures every n-th step, with what was run before it", () => {
    const { timer, pass, reports } = virtualTimer({ sampleEvery: 3 });
    const [log, fit] = [timer.section("log"), timer.section("fit")];
    for (let step = 0; step < 7; step += 1) {
      timer.step(() => fit.time(() => pass(10)));
      log.time(() => pass(1_000));
    }
    expect(reports.map((report) => [report.step, report.ms, report.sections.log?.ms, report.unbalanced])).toEqual([
      [1, 0.00001, null, 0],
      [4, 0.00101, 0.001, 0],
      [7, 0.00101, 0.001, 0],
    ]);
  });

  it("tags the step in progress, and the next one between steps", () => {
    const { timer, reports } = virtualTimer();
    timer.mark("resume");
    timer.step(() => timer.mark("warmup"));
    timer.step(() => {});
    expect(reports.map(({ tags }) => tags)).toEqual([["resume", "warmup"], []]);
  });

  it("hands late columns on, which were null in the report", () => {
    const { timer, reports } = virtualTimer();
    timer.section("fit");
    const late = vi.fn<() => void>();
    timer.on("late", late);
    timer.step(() => {});
    timer.expectLate("deviceMs");
    timer.step(() => {});
    timer.late(2, { fit: { deviceMs: 3 } });
    expect(reports.map(({ sections }) => sections.fit!.deviceMs)).toEqual([undefined, null]);
    expect(late).toHaveBeenCalledExactlyOnceWith({ step: 2, sections: { fit: { deviceMs: 3 } } });
  });

  it("ends sections and tokens with their scope where the runtime can", () => {
    const { timer, pass, reports } = virtualTimer({ strict: true });
    const fit = timer.section("fit");
    timer.step(() => {
      const scope = fit.start();
      pass(10);
      scope[Symbol.dispose]();
      fit.begin()[Symbol.dispose]();
      pass(1);
    });
    expect(reports[0]).toMatchObject({ residualMs: 0.000001, sections: { fit: { ms: 0.00001, count: 2 } } });
  });

  it("refuses more sections than it holds, and sampling of nothing", () => {
    const { timer } = virtualTimer();
    for (let i = 1; i < 256; i += 1) timer.section(`s${i}`);
    expect(() => timer.section("last")).toThrow('timer: section "last" is past 255; make handles once');
    expect(timer.section("s9")).toBe(timer.section("s9"));
    expect(() => createTimer({ sampleEvery: 0 })).toThrow("timer: sampleEvery is 0; give a positive integer");
  });

  it("prints a step in one line, largest section first", () => {
    const { timer, pass } = virtualTimer();
    const [load, fit, tiny] = [timer.section("load"), timer.section("fit"), timer.section("tiny")];
    timer.section("never");
    const lines: string[] = [];
    timer.on("report", (report) => lines.push(String(report), JSON.stringify(report)));
    timer.step(() => {
      load.time(() => pass(2_900_000));
      fit.time(() => pass(45_000_000));
      tiny.time(() => pass(200));
      pass(200_000);
    });
    expect(lines[0]).toBe("step 1  48.1 ms  fit 45.0 (93.6 %)  load 2.9  rest 0.2  timer 0.000");
    expect(JSON.parse(lines[1]!)).toMatchObject({ step: 1, sections: { fit: { ms: 45 } } });
  });

  it("has no negative time while the wall clock is set an hour back and forth", () => {
    const wall = vi.spyOn(Date, "now");
    const timer = createTimer();
    const fit = timer.section("fit");
    let least = Infinity;
    timer.on("report", ({ ms, residualMs, sections }) => (least = Math.min(least, ms, residualMs, sections.fit!.ms!)));
    for (let step = 0; step < 2_000; step += 1) {
      wall.mockReturnValue(1.8e12 + (step % 2) * 3.6e6);
      timer.step(() => fit.time(() => {}));
    }
    wall.mockRestore();
    expect(least).toBeGreaterThan(0);
  });
});
