import type { CauseProbe } from "./causes/causeProbe.ts";
import { observeCauses, type ObserveCausesOptions } from "./causes/observeCauses.ts";
import type { Clock } from "./clock.ts";
import { createTimer } from "./createTimer.ts";
import { overlapLanes } from "./lanes/overlapLanes.ts";
import type { ReportSnapshot } from "./report.ts";
import type { Timer } from "./timer.ts";
import type { TimerOptions } from "./timerOptions.ts";

/** How a virtual timer is made: what it observes besides times. */
export type VirtualTimerOptions = Omit<TimerOptions, "clock"> &
  ObserveCausesOptions & { overlap?: boolean; probe?: CauseProbe };

/** A timer on a clock that moves only when told to, and the reports that it has made. */
export function virtualTimer({ overlap = false, probe, syncEvery, ...options }: VirtualTimerOptions = {}): {
  timer: Timer;
  pass: (ns: number) => void;
  clock: Clock;
  reports: ReportSnapshot[];
} {
  let now = 5_000_000_000_123n;
  const clock = (): bigint => now;
  const reports: ReportSnapshot[] = [];
  const timer = createTimer({ ...options, clock });
  if (overlap) overlapLanes(timer);
  timer.on("report", (report) => reports.push(report.snapshot()));
  if (probe) observeCauses(timer, probe, syncEvery === undefined ? {} : { syncEvery });
  return { timer, reports, clock, pass: (ns) => void (now += BigInt(ns)) };
}
