export type { Clock } from "./clock.ts";
export { createTimer, type TimerOptions } from "./createTimer.ts";
export type { Report, ReportSnapshot, Section, SectionOptions, SectionTimes, Timer } from "./timer.ts";
