import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, vi } from "vitest";
import { createTimer } from "../createTimer.ts";
import type { LateReport, ReportSnapshot } from "../report.ts";
import type { Timer } from "../timer.ts";
import { createThreadMeter, observeEventLoop, observeGc, profileSteps, publishTimer, readMemory } from "./index.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function observed(observe: (timer: Timer) => () => void): {
  timer: Timer;
  reports: ReportSnapshot[];
  lates: LateReport[];
  stop: () => void;
} {
  const timer = createTimer();
  const reports: ReportSnapshot[] = [];
  const lates: LateReport[] = [];
  timer.on("report", (report) => reports.push(report.snapshot())).on("late", (late) => lates.push(late));
  return { timer, reports, lates, stop: observe(timer) };
}

/** Keeps the thread busy. */
function spin(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

function busySin(): void {
  spin(25);
}

function busyCos(): void {
  spin(50);
}

describe("observeGc", () => {
  it("charges collections to the section they hit, though the loop never turns in the step", async () => {
    const { timer, reports, lates, stop } = observed(observeGc);
    const [quiet, litter] = [timer.section("quiet"), timer.section("litter")];
    timer.section("never");
    collect();
    await sleep(20);
    for (let step = 0; step < 2; step += 1) {
      timer.step(() => {
        quiet.time(() => spin(1));
        litter.time(() => step === 1 && Array.from({ length: 5 }, collect));
      });
    }
    expect(lates).toEqual([]);
    await vi.waitFor(() => expect(lates).toHaveLength(2));
    stop();
    expect(reports[1]!.sections.litter!.gcMs).toBeNull();
    expect(lates.map(({ step }) => step)).toEqual([1, 2]);
    expect(lates[0]!.sections).toEqual({ quiet: { gcMs: 0 }, litter: { gcMs: 0 } });
    const { quiet: clean, litter: hit } = lates[1]!.sections;
    expect(clean!.gcMs).toBe(0);
    expect(hit!.gcMs).toBeGreaterThan(0.5 * reports[1]!.sections.litter!.ms!);
    expect(hit!.gcMs).toBeLessThanOrEqual(reports[1]!.sections.litter!.ms!);
  });
});

describe("observeEventLoop", () => {
  it("charges what other callbacks took from a waiting section to it, and none to work", async () => {
    const { timer, reports, lates, stop } = observed((made) => observeEventLoop(made, { resolutionMs: 5 }));
    const wait = timer.section("wait", { role: "wait", waitsFor: "data" });
    const fit = timer.section("fit");
    await timer.step(async () => {
      setTimeout(() => spin(60), 10);
      await wait.time(() => sleep(30));
      fit.time(() => spin(40));
    });
    await vi.waitFor(() => expect(lates).toHaveLength(1));
    stop();
    const { wait: hit, fit: own } = lates[0]!.sections;
    expect(own).toBeUndefined();
    expect(hit!.stallMs).toBeGreaterThan(20);
    expect(hit!.stallMs).toBeLessThanOrEqual(reports[0]!.sections.wait!.ms!);
  });
});

describe("profileSteps", () => {
  it("says which functions each section spent its time in", async () => {
    const timer = createTimer();
    const [first, second] = [timer.section("first"), timer.section("second")];
    const profiled = profileSteps(timer, { from: 2, to: 3, intervalUs: 200 });
    for (let step = 0; step < 4; step += 1) {
      timer.step(() => {
        first.time(busySin);
        second.time(busyCos);
      });
    }
    const { sections, profile } = await profiled;
    expect(sections.slice(0, 2).map(({ section }) => section)).toEqual(["second", "first"]);
    const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
    const children = (id: number): string[] =>
      (nodes.get(id)!.children ?? []).flatMap((child) => [
        nodes.get(child)!.callFrame.functionName,
        ...children(child),
      ]);
    const frames = Object.fromEntries(
      nodes.get(1)!.children!.map((id) => [nodes.get(id)!.callFrame.functionName, children(id)]),
    );
    expect(frames["[second]"]).toContain("busyCos");
    expect(frames["[second]"]).not.toContain("busySin");
    expect(frames["[first]"]).toContain("busySin");
    expect(profile.samples.every((id) => nodes.has(id))).toBe(true);
    const [longest, shorter] = sections;
    expect(longest!.ms).toBeGreaterThan(shorter!.ms);
    expect(longest!.functions.reduce((sum, { ms }) => sum + ms, 0)).toBeCloseTo(longest!.ms, 6);
  });
});

describe("publishTimer", () => {
  it("publishes reports and late columns while somebody listens", () => {
    const { timer, stop } = observed((made) => publishTimer(made, "test.timer"));
    const seen: unknown[] = [];
    const take = (message: unknown): void => void seen.push(message);
    timer.step(() => {});
    subscribe("test.timer.report", take);
    subscribe("test.timer.late", take);
    timer.step(() => {});
    timer.late(2, {});
    stop();
    timer.step(() => {});
    unsubscribe("test.timer.report", take);
    unsubscribe("test.timer.late", take);
    expect(seen).toMatchObject([
      { step: 2, residualMs: expect.any(Number) },
      { step: 2, sections: {} },
    ]);
  });
});

describe("createThreadMeter", () => {
  it.skipIf(!existsSync("/proc/self/task"))("shows the busy thread on top, since the last reading", () => {
    const read = createThreadMeter();
    spin(100);
    const threads = read();
    expect(threads.length).toBeGreaterThan(1);
    expect(threads[0]!.cpuMs + threads[0]!.runQueueMs).toBeGreaterThan(20);
    expect(read()[0]!.cpuMs).toBeLessThan(threads[0]!.cpuMs);
    expect(threads.every(({ cpuMs, runQueueMs, name }) => cpuMs >= 0 && runQueueMs >= 0 && name.length > 0)).toBe(true);
  });
});

describe("readMemory", () => {
  it("reads bytes", () => {
    const { rssBytes, heapUsedBytes, heapTotalBytes } = readMemory();
    expect(heapUsedBytes).toBeLessThanOrEqual(heapTotalBytes);
    expect(heapTotalBytes).toBeLessThan(rssBytes);
  });
});
