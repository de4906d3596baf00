import { array, assert, constantFrom, nat, property, record, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReportSnapshot } from "../report.ts";
import { virtualTimer } from "../virtualTimer.test-support.ts";

const ns = (ms: number | null): number => Math.round((ms ?? 0) * 1e6);
/** Self times of all sections, or of one lane's, ns. */
const selfNs = ({ sections }: ReportSnapshot, lane?: string): number =>
  Object.values(sections).reduce(
    (sum, section) => (lane === undefined || section.lane === lane ? sum + ns(section.selfMs) : sum),
    0,
  );

describe("a step with lanes of one thread", () => {
  it("closes when a section of its own interrupts an async one of another lane that it waits for", async () => {
    const { timer, pass, reports } = virtualTimer({ overlap: true, lane: "drafter", strict: true });
    const wait = timer.section("queue/wait", { role: "wait", waitsFor: "data" });
    const data = timer.section("data", { lane: "data" });
    const log = timer.section("log");
    await timer.step(() =>
      wait.time(async () => {
        pass(5);
        await data.time(async () => {
          pass(20_000);
          await Promise.resolve();
          // A late record is written meanwhile.
          log.time(() => pass(700));
          await Promise.resolve();
          pass(35_000_000);
        });
        pass(1);
      }),
    );
    const [report] = reports;
    expect(report).toMatchObject({
      ms: 35.020706,
      residualMs: 0,
      sections: {
        "queue/wait": { ms: 35.020706, selfMs: 0.000006 },
        data: { ms: 35.0207, selfMs: 35.02, parent: "queue/wait" },
        log: { ms: 0.0007, selfMs: 0.0007, parent: "queue/wait" },
      },
      lanes: {
        drafter: { busyMs: 0.0007, waitMs: 35.020006, residualMs: 0, overlap: 0 },
        data: { busyMs: 35.02, waitMs: 0, residualMs: 0.000706 },
      },
    });
    expect(selfNs(report!)).toBe(ns(report!.ms));
  });

  it("counts what ran beside the wait once more when that ends first", () => {
    const { timer, pass, reports } = virtualTimer({ overlap: true, lane: "drafter" });
    const wait = timer.section("queue/wait", { role: "wait", waitsFor: "data" });
    const data = timer.section("data", { lane: "data" });
    const [log, fit] = [timer.section("log"), timer.section("fit")];
    timer.step(() => {
      wait.start();
      data.start();
      pass(100);
      log.time(() => pass(10));
      pass(1_000);
      wait.stop();
      fit.time(() => pass(20_000));
      data.stop();
    });
    const [report] = reports;
    // The wait has all its time back, and data ran beside it and beside `fit`, but not while `log` did.
    expect(report).toMatchObject({
      sections: { "queue/wait": { selfMs: 0.0011 }, data: { ms: 0.02111, selfMs: 0.0211 } },
      lanes: { drafter: { busyMs: 0.02001, waitMs: 0.0011, overlapMs: { data: 0.02 } } },
    });
    expect(selfNs(report!, "drafter")).toBe(ns(report!.ms));
  });

  it("closes exactly whatever interrupts inline work in a wait", () => {
    const piece = record({ kind: constantFrom("pass", "inner", "interrupt"), ns: nat(1_000_000) });
    const run = tuple(array(piece, { maxLength: 12 }), nat(1_000));
    assert(
      property(array(run, { maxLength: 6 }), (runs) => {
        const { timer, pass, reports } = virtualTimer({ overlap: true, lane: "drafter", strict: true });
        const wait = timer.section("wait", { role: "wait", waitsFor: "data" });
        const [data, parse] = [timer.section("data", { lane: "data" }), timer.section("parse", { lane: "data" })];
        const log = timer.section("log");
        let logNs = 0;
        let dataNs = 0;
        timer.step(() => {
          for (const [pieces, gap] of runs) {
            pass(gap);
            wait.start();
            pass(gap);
            data.start();
            for (const { kind, ns: length } of pieces) {
              if (kind === "interrupt") logNs += length;
              else dataNs += length;
              if (kind === "pass") pass(length);
              else (kind === "inner" ? parse : log).time(() => pass(length));
            }
            data.stop();
            wait.stop();
          }
        });
        const [report] = reports;
        expect(selfNs(report!) + ns(report!.residualMs)).toBe(ns(report!.ms));
        expect([selfNs(report!, "data"), ns(report!.sections.log!.selfMs)]).toEqual([dataNs, logNs]);
        for (const { busyMs, waitMs, residualMs } of Object.values(report!.lanes))
          expect(ns(busyMs) + ns(waitMs) + ns(residualMs)).toBe(ns(report!.ms));
      }),
    );
  });
});
