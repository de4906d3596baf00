import { channel } from "node:diagnostics_channel";
import type { LateReport, Report, SlowStep, Timer } from "../timer.ts";

/**
 * Publishes what a timer emits on the diagnostics channels `name.report` (a snapshot), `name.late` and `name.slow`; free while nobody subscribes.
 *
 * @returns a function that stops it.
 */
export function publishTimer(timer: Pick<Timer, "on" | "off">, name = "dflash.timer"): () => void {
  const reports = channel(`${name}.report`);
  const lates = channel(`${name}.late`);
  const slows = channel(`${name}.slow`);
  const onReport = (report: Report): void => {
    if (reports.hasSubscribers) reports.publish(report.snapshot());
  };
  const onLate = (late: LateReport): void => lates.publish(late);
  const onSlow = (slow: SlowStep): void => slows.publish(slow);
  timer.on("report", onReport).on("late", onLate).on("slow", onSlow);
  return () => void timer.off("report", onReport).off("late", onLate).off("slow", onSlow);
}
