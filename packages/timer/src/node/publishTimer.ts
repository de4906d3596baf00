import { channel } from "node:diagnostics_channel";
import type { LateReport, Report } from "../report.ts";
import type { Timer } from "../timer.ts";

/**
 * Publishes what a timer emits on the diagnostics channels `name.report` (a snapshot) and `name.late`; free while nobody subscribes.
 *
 * @returns a function that stops it.
 */
export function publishTimer(timer: Pick<Timer, "on" | "off">, name = "dflash.timer"): () => void {
  const reports = channel(`${name}.report`);
  const lates = channel(`${name}.late`);
  const onReport = (report: Report): void => {
    if (reports.hasSubscribers) reports.publish(report.snapshot());
  };
  const onLate = (late: LateReport): void => lates.publish(late);
  timer.on("report", onReport).on("late", onLate);
  return () => void timer.off("report", onReport).off("late", onLate);
}
