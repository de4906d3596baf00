export { attachTimer, shareTimer, type SharedTimer } from "./attachTimer.ts";
export type { Clock } from "./clock.ts";
export { createStatistics, type Statistics, type Summary } from "./createStatistics.ts";
export { createTimer, type TimerOptions } from "./createTimer.ts";
export { createGuardedEmitter, type GuardedEmitter } from "./guardedEmitter.ts";
export type { Distribution } from "./histogram.ts";
export { mergeReports, type MergedReport, type Spread } from "./mergeReports.ts";
export { readSpans } from "./readSpans.ts";
export { type SlowStep, watchSlowSteps } from "./watchSlowSteps.ts";
export type {
  Calibration,
  CauseProbe,
  Causes,
  LaneReport,
  LateColumns,
  LateReport,
  Report,
  ReportSnapshot,
  Section,
  SectionInfo,
  SectionOptions,
  SectionReport,
  SectionTimes,
  Span,
  StepSpans,
  Timer,
  TimerEvents,
  Token,
  WorkUnit,
} from "./timer.ts";
