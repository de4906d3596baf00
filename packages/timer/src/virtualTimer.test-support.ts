import type { Clock } from "./clock.ts";
import { createTimer } from "./createTimer.ts";
import type { TimerOptions } from "./timerOptions.ts";
import type { ReportSnapshot } from "./report.ts";
import type { Timer } from "./timer.ts";

/** A timer on a clock that moves only when told to, and the reports that it has made. */
export function virtualTimer(options: Omit<TimerOptions, "clock"> = {}): {
  timer: Timer;
  pass: (ns: number) => void;
  clock: Clock;
  reports: ReportSnapshot[];
} {
  let now = 5_000_000_000_123n;
  const clock = (): bigint => now;
  const reports: ReportSnapshot[] = [];
  const timer = createTimer({ ...options, clock });
  timer.on("report", (report) => reports.push(report.snapshot()));
  return { timer, reports, clock, pass: (ns) => void (now += BigInt(ns)) };
}
