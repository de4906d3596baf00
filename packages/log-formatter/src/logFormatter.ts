import type { EventRecord, HeaderRecord, LateRecord, StepRecord, SummaryRecord } from "./record.ts";

/** What a formatter returns, line end included; `""` writes nothing. Bytes may be reused by its next call. */
export type LogChunk = string | Uint8Array;

/** How chunks follow one another: `lines` can be appended to those of an earlier run, a `document` begins a file of its own, and each `page` replaces the one before. */
export type LogForm = "lines" | "document" | "page";

/** Turns records into text or bytes; only `step` must be there. */
export interface LogFormatter {
  /** `lines` unless given. */
  readonly form?: LogForm;
  /** Begins an attempt. */
  header?(record: HeaderRecord): LogChunk;
  /** One step. */
  step(record: StepRecord): LogChunk;
  /** What came late of a step that was written. */
  late?(record: LateRecord): LogChunk;
  /** The run's end. */
  summary?(record: SummaryRecord): LogChunk;
  /** Something that happened at a step. */
  event?(record: EventRecord): LogChunk;
  /** What the next file begins with when a sink changes files in the middle; what `header` returned unless given. */
  preamble?(): LogChunk;
  /** Ends the document, where its format has an end. */
  close?(): LogChunk;
}

/** What a formatter may know of the place its output goes to. */
export interface LogTarget {
  /** Escape codes are welcome. */
  readonly color: boolean;
  /** Width in columns, read at each line; null where lines may be of any length. */
  readonly columns: number | null;
}

/** Makes a formatter for one output, so that it can hold what its format needs. A plug-in's default export. */
export type LogFormatterFactory = (target: LogTarget) => LogFormatter;
