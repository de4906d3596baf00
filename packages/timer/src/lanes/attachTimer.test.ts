import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { attachTimer } from "./attachTimer.ts";
import { shareTimer, type SharedTimer } from "./shareTimer.ts";
import { createTimer } from "../createTimer.ts";
import { readSpans } from "../spans/readSpans.ts";
import type { ReportSnapshot } from "../report.ts";
import type { Timer } from "../timer.ts";
import { virtualTimer } from "../virtualTimer.test-support.ts";

describe("attachTimer", () => {
  it("shows the lanes of worker threads in the step in which they ran", async () => {
    const workers = ["target[0]", "target[1]"].map(
      (lane) => new Worker(new URL("attachTimer.test-worker.mjs", import.meta.url), { workerData: lane }),
    );
    const timer = createTimer({ strict: true });
    const reports: ReportSnapshot[] = [];
    timer.on("report", (report) => reports.push(report.snapshot()));
    // Listened to at once: the second may be ready before the first.
    const ready = await Promise.all(workers.map((worker) => once(worker, "message")));
    for (const [shared] of ready as [SharedTimer][]) attachTimer(timer, shared);
    const fit = timer.section("fit");
    const run = (rounds: readonly number[]): Promise<void> =>
      timer.step(() =>
        fit.time(async () => {
          await Promise.all(
            workers.map((worker, i) => {
              worker.postMessage(rounds[i], []);
              return once(worker, "message");
            }),
          );
        }),
      );
    await run([3, 5]);
    await run([2, 0]);
    await Promise.all(workers.map((worker) => worker.terminate()));

    const counts = reports.map(({ sections }) => [
      sections.forward!.count,
      sections["forward@target[1]"]!.count,
      sections["wait@target[1]"]!.count,
    ]);
    expect(counts).toEqual([
      [3, 5, 5],
      [2, 0, 0],
    ]);
    expect(reports[1]!.sections["forward@target[1]"]).toMatchObject({
      ms: null,
      reason: "not reached",
      lane: "target[1]",
    });
    expect(reports[0]!.sections["forward@target[1]"]!.work).toEqual({ tokens: 50, flops: 0, bytes: 0 });
    for (const report of reports) {
      expect(report).toMatchObject({ dropped: 0, unbalanced: 0 });
      for (const { busyMs, waitMs, residualMs } of Object.values(report.lanes)) {
        expect(busyMs + waitMs + residualMs).toBeCloseTo(report.ms, 9);
        expect(Math.min(busyMs, waitMs, residualMs)).toBeGreaterThanOrEqual(0);
      }
      const { main, "target[0]": target } = report.lanes;
      // The own lane was in `fit` all the time.
      expect(target!.overlapMs.main).toBeCloseTo(target!.busyMs, 1);
      expect(main!.overlapMs["target[0]"]).toBe(target!.overlapMs.main);
      const spans = readSpans(timer, report)!.filter(({ lane }) => lane === "target[0]");
      expect(spans).toHaveLength(2 * report.sections.forward!.count);
      expect(spans.every(({ local }) => !local)).toBe(true);
    }
  });

  it("merges lanes with different sets of sections, and counts work that a busy thread overwrote", () => {
    const own = virtualTimer();
    const other = createTimer({ lane: "loader", shared: true, clock: own.clock });
    const read = other.section("read");
    other.section("parse", { lane: "parser" });
    attachTimer(own.timer, shareTimer(other));
    own.timer.step(() => {
      own.pass(10);
      read.time(() => own.pass(10));
      own.pass(10);
    });
    own.timer.step(() => {
      for (let i = 0; i < 5_000; i += 1) read.time(() => {});
      own.pass(10);
    });
    own.timer.step(() => {
      own.pass(10);
      read.time(() => own.pass(10));
      own.pass(10);
    });
    expect(
      own.reports.map(({ dropped, sections }) => [
        dropped,
        sections.read!.ms,
        sections.read!.reason,
        sections.parse!.reason,
      ]),
    ).toEqual([
      [0, 0.00001, undefined, "not reached"],
      [10_000, null, "dropped", "dropped"],
      [0, 0.00001, undefined, "not reached"],
    ]);
  });

  it("leaves out what other threads did while it was off", () => {
    const own = virtualTimer({ sampleEvery: 2 });
    const other = createTimer({ lane: "loader", shared: true, clock: own.clock });
    const read = other.section("read");
    attachTimer(own.timer, shareTimer(other));
    for (let step = 0; step < 3; step += 1) {
      own.timer.step(() => {
        own.pass(10);
        for (let i = 0; i < 3_000; i += 1) if (step === 1 || i === 0) read.time(() => {});
        own.pass(10);
      });
    }
    expect(own.reports.map(({ step, dropped, sections }) => [step, dropped, sections.read!.count])).toEqual([
      [1, 0, 1],
      [3, 0, 1],
    ]);
  });

  it("lets a thread go on in the lane of one that is gone, whatever that had open", () => {
    const own = virtualTimer();
    const thread = (): Timer => createTimer({ lane: "loader", shared: true, clock: own.clock });
    const gone = thread();
    const lost = gone.section("read");
    attachTimer(own.timer, shareTimer(gone));
    own.timer.step(() => {
      lost.start();
      own.pass(10);
    });
    const next = thread();
    const [read, parse] = [next.section("read"), next.section("parse")];
    attachTimer(own.timer, shareTimer(next));
    for (let step = 2; step <= 3; step += 1) {
      own.timer.step(() => {
        read.time(() => own.pass(10));
        parse.time(() => own.pass(20));
      });
    }
    expect(own.timer.sections.map(({ name }) => name)).toEqual(["read", "parse"]);
    const times = own.reports.map(({ sections, lanes, unbalanced }) => [
      sections.read!.ms,
      sections.parse?.ms,
      lanes.loader!.busyMs,
      unbalanced,
    ]);
    expect(times).toEqual([
      [0.00001, undefined, 0.00001, 0],
      [null, null, 0.00003, 0],
      [0.00001, 0.00002, 0.00003, 0],
    ]);
    expect(own.reports[1]!.sections.read!.reason).toBe("dropped");
  });

  it("says what is wrong and what to do", () => {
    const none: unknown = {};
    // oxlint-disable-next-line no-unsafe-type-assertion -- what another thread may send
    expect(() => attachTimer(createTimer(), none as SharedTimer)).toThrow(
      "attachTimer: this is no shared timer; give what shareTimer has made of the other thread's",
    );
    const { timer } = virtualTimer();
    expect(() => shareTimer(timer)).toThrow(
      "shareTimer: the timer's recording is not shared; make it with createTimer({ shared: true })",
    );
    const shared = createTimer({ shared: true });
    expect(() => attachTimer(timer, shareTimer(shared))).toThrow(
      'attachTimer: lane "main" is here already; give the other thread',
    );
    expect(() => shared.section("late")).toThrow('timer: section "late" comes after shareTimer()');
    expect(() => readSpans({ ...timer }, { startMs: 0, ms: 1 })).toThrow(
      "timer: this is no timer, or one of another copy of @dflash/timer",
    );
  });
});
