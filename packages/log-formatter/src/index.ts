export { attachLog } from "./attachLog.ts";
export type { AttachedLog, AttachLogOptions, LogEmitter, LogEvents, LogFault, LogOutput } from "./attachLog.ts";
export { createStepRecord } from "./createStepRecord.ts";
export type { StepRecordOptions, StepTimes } from "./createStepRecord.ts";
export { createSummary } from "./createSummary.ts";
export type { Summary } from "./createSummary.ts";
export { ndjson } from "./formatters/ndjson.ts";
export { pretty } from "./formatters/pretty.ts";
export { builtInFormatters, loadFormatter } from "./loadFormatter.ts";
export type { LoadFormatterOptions } from "./loadFormatter.ts";
export type { LogChunk, LogFormatter, LogFormatterFactory, LogTarget } from "./logFormatter.ts";
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
export { fileSink } from "./sinks/fileSink.ts";
export { stderrSink, stdoutSink } from "./sinks/streamSink.ts";
