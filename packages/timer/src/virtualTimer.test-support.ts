import { createTimer, type TimerOptions } from "./createTimer.ts";
import type { ReportSnapshot, Timer } from "./timer.ts";

/** A timer on a clock that moves only when told to, and the reports that it has made. */
export function virtualTimer(options: Omit<TimerOptions, "clock"> = {}): {
  timer: Timer;
  pass: (ns: number) => void;
  reports: ReportSnapshot[];
} {
  let now = 5_000_000_000_123n;
  const reports: ReportSnapshot[] = [];
  const timer = createTimer({ ...options, clock: () => now });
  timer.on("report", (report) => reports.push(report.snapshot()));
  return { timer, reports, pass: (ns) => void (now += BigInt(ns)) };
}
