export { attachLog } from "./attachLog.ts";
export type { AttachedLog, AttachLogOptions, LogEmitter, LogEvents, LogFault, LogOutput } from "./attachLog.ts";
export { createStepRecord } from "./createStepRecord.ts";
export type { StepRecordOptions, StepTimes } from "./createStepRecord.ts";
export { createSummary } from "./createSummary.ts";
export type { Summary } from "./createSummary.ts";
export { createLateRecord } from "./createLateRecord.ts";
export { createHeaderRecord } from "./createHeaderRecord.ts";
export type { HeaderRecordOptions } from "./createHeaderRecord.ts";
export { chrome } from "./formatters/chrome.ts";
export { logfmt } from "./formatters/logfmt.ts";
export { ndjson } from "./formatters/ndjson.ts";
export { pretty } from "./formatters/pretty.ts";
export { prometheus } from "./formatters/prometheus.ts";
export { tensorboard } from "./formatters/tensorboard.ts";
export { tsv } from "./formatters/tsv.ts";
export { builtInFormatters, loadFormatter, resolveFormat } from "./loadFormatter.ts";
export type { LoadFormatterOptions } from "./loadFormatter.ts";
export type { LogChunk, LogForm, LogFormatter, LogFormatterFactory, LogTarget } from "./logFormatter.ts";
export type { LogSink } from "./logSink.ts";
export type {
  EventRecord,
  HeaderRecord,
  LateRecord,
  LogRecord,
  SectionRecord,
  SectionSummary,
  StepRecord,
  SummaryRecord,
} from "./record.ts";
export { openOutput, resolveOutput } from "./openOutput.ts";
export { compareTimes, formatComparison, regressions } from "./read/compareTimes.ts";
export type { SectionChange } from "./read/compareTimes.ts";
export { readLog } from "./read/readLog.ts";
export type { ReadLogOptions } from "./read/readLog.ts";
export type { Follow } from "./read/readLines.ts";
export { sectionTimes } from "./read/sectionTimes.ts";
export type { RunTimes, SectionTimesStats } from "./read/sectionTimes.ts";
export { watchBaseline } from "./read/watchBaseline.ts";
export type { WatchBaselineOptions } from "./read/watchBaseline.ts";
export { fileSink } from "./sinks/fileSink.ts";
export type { FileSinkOptions } from "./sinks/fileSink.ts";
export { metricsSink } from "./sinks/metricsSink.ts";
export type { MetricsSink, MetricsSinkOptions } from "./sinks/metricsSink.ts";
export { stderrSink, stdoutSink, terminalTarget } from "./sinks/streamSink.ts";
