export type { CauseProbe, Causes } from "./causes/causeProbe.ts";
export type { Clock } from "./clock.ts";
export { createTimer } from "./createTimer.ts";
export { createGuardedEmitter, type GuardedEmitter } from "./guardedEmitter.ts";
export type {
  LaneReport,
  LateColumns,
  LateReport,
  Report,
  ReportSnapshot,
  SectionReport,
  SectionTimes,
} from "./report.ts";
export type { Section, SectionInfo, SectionOptions, Token, WorkUnit } from "./section.ts";
export type { Calibration, Timer, TimerEvents } from "./timer.ts";
export type { TimerOptions } from "./timerOptions.ts";
