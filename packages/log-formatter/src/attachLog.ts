import type { LogChunk, LogFormatter, LogFormatterFactory } from "./logFormatter.ts";
import type { LogSink } from "./logSink.ts";
import type { EventRecord, HeaderRecord, LateRecord, LogRecord, StepRecord, SummaryRecord } from "./record.ts";

/** Events of an emitter that logs: each is named after the `kind` of its record. */
export interface LogEvents {
  /** An attempt has begun. */
  header: (record: HeaderRecord) => void;
  /** A step has closed. */
  step: (record: StepRecord) => void;
  /** More is known of a closed step. */
  late: (record: LateRecord) => void;
  /** The steps so far. */
  summary: (record: SummaryRecord) => void;
  /** Something happened at a step. */
  event: (record: EventRecord) => void;
}

/** What `attachLog` needs of an emitter: an eventemitter3 or `node:events` emitter with the events of `LogEvents`. */
export interface LogEmitter {
  /** Starts listening. */
  on(event: keyof LogEvents, listener: (record: LogRecord) => void): unknown;
  /** Stops listening. */
  off(event: keyof LogEvents, listener: (record: LogRecord) => void): unknown;
}

/** An output that was switched off. */
export interface LogFault {
  /** Formatter and sink, such as `pretty to stderr`. */
  output: string;
  /** Step of the last step record seen; 0 before the first. */
  step: number;
  /** What was thrown. */
  error: Error;
  /** Records not written, the failing one included. */
  lost: number;
}

/** How `attachLog` reports. */
export interface AttachLogOptions {
  /** Called once for each output that is switched off; a line on stderr unless given. */
  onFault?: (fault: LogFault) => void;
}

/** A log being written. */
export interface AttachedLog {
  /** Outputs switched off so far. */
  readonly faults: readonly LogFault[];
  /** Stops listening, ends the documents and closes the sinks, once however often it is called; never rejects. */
  close(): Promise<void>;
}

/** A formatter may be given as its factory or ready-made. */
export type LogOutput = readonly [formatter: LogFormatterFactory | LogFormatter, sink: LogSink];

/** A formatter may take this long once, say while it is compiled; the second time switches it off. */
const slowMs = 50;
/** Nobody's machine is so busy that this is not the formatter's own doing. */
const stuckMs = 1000;
/** After so many quick records a slow one is forgotten: other work may hold up any formatter now and then. */
const forgottenAfter = 32;
const kinds = ["header", "step", "late", "summary", "event"] as const;
const plainTarget = { color: false, columns: null };

interface Output {
  readonly name: string;
  readonly sink: LogSink;
  formatter: LogFormatter;
  /** Why the formatter could not be made or the sink not opened. */
  error: unknown;
  /** What the header became, for a sink that changes files. */
  header: LogChunk;
  /** Records since a slow one. */
  quick: number;
  fault: LogFault | undefined;
}

/**
 * Writes the records that an emitter emits to every output. A formatter or sink that throws, or a formatter that twice within
 * 32 records takes over 50 ms, is switched off, counted and reported once, to `onFault` and as a `sink-off` event to the other
 * outputs; the emitter's other listeners and its caller never notice. Time for which a busy machine took the processor away,
 * up to a second, is not the formatter's. Events that come before every other record are written after the first.
 */
export function attachLog(
  emitter: LogEmitter,
  outputs: readonly LogOutput[],
  options: AttachLogOptions = {},
): AttachedLog {
  const faults: LogFault[] = [];
  /** What is told after the record at hand: the header comes first in every output. */
  const untold: EventRecord[] = [];
  let begun = false;
  let step = 0;

  const switchOff = (output: Output, cause: unknown): void => {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    output.fault = { output: output.name, step, error, lost: 1 };
    faults.push(output.fault);
    try {
      (options.onFault ?? reportOnStderr)(output.fault);
    } catch {
      // A reporter that fails must not reach the training code either.
    }
    untold.push({ kind: "event", step, name: "sink-off", data: { output: output.name, error: error.message } });
  };

  const writeTo = (output: Output, record: LogRecord): void => {
    if (output.fault !== undefined) {
      output.fault.lost++;
      return;
    }
    try {
      const wasSlow = output.quick < forgottenAfter;
      const before = wasSlow ? process.resourceUsage() : undefined;
      const start = performance.now();
      const chunk = format(output.formatter, record);
      const ms = performance.now() - start;
      if (ms <= slowMs) output.quick++;
      else if (before && (ms > stuckMs || !wasHeldUp(before)))
        throw new Error(`the formatter took over ${slowMs} ms twice`);
      else output.quick = 0;
      if (record.kind === "header") output.header = typeof chunk === "string" ? chunk : Uint8Array.from(chunk);
      writeChunk(output, chunk, record.kind);
    } catch (error) {
      switchOff(output, error);
    }
  };

  const write = (record: LogRecord): void => {
    if (record.kind === "step") step = record.step;
    begun ||= record.kind !== "event";
    if (!begun && record.kind === "event") untold.push(record);
    else {
      for (const output of opened) writeTo(output, record);
      tell();
    }
  };

  const tell = (): void => {
    for (let event = untold.shift(); event !== undefined; event = untold.shift())
      for (const output of opened) if (output.fault === undefined) writeTo(output, event);
  };

  const opened = outputs.map(open);
  for (const output of opened) if (output.error !== undefined) switchOff(output, output.error);
  for (const kind of kinds) emitter.on(kind, write);

  const closeAll = async (): Promise<void> => {
    for (const kind of kinds) emitter.off(kind, write);
    tell();
    for (const output of opened) {
      try {
        if (output.fault === undefined) writeChunk(output, output.formatter.close?.() ?? "", "close");
        await output.sink.close?.();
      } catch (error) {
        if (output.fault === undefined) switchOff(output, error);
      }
    }
  };
  let closed: Promise<void> | undefined;

  return { faults, close: () => (closed ??= closeAll()) };
}

/** Stands for a formatter that could not be made. */
const silent: LogFormatter = { step: () => "" };

function open([formatter, sink]: LogOutput): Output {
  const name = `${(typeof formatter === "function" && formatter.name) || "formatter"} to ${sink.name}`;
  const output: Output = {
    name,
    sink,
    formatter: silent,
    error: undefined,
    header: "",
    quick: forgottenAfter,
    fault: undefined,
  };
  try {
    const made = typeof formatter === "function" ? formatter(sink.target ?? plainTarget) : formatter;
    if (typeof made?.step !== "function") {
      leaveAlone(made);
      throw new TypeError("it is no formatter: an object with a step method");
    }
    output.formatter = made;
    sink.open?.(made.form ?? "lines", () => made.preamble?.() ?? output.header);
  } catch (error) {
    output.error = error;
  }
  return output;
}

/** Whether the processor was taken away since then, and what the process had of it would not have been too much. */
function wasHeldUp(before: NodeJS.ResourceUsage): boolean {
  const after = process.resourceUsage();
  const cpuMs = (after.userCPUTime + after.systemCPUTime - before.userCPUTime - before.systemCPUTime) / 1000;
  return cpuMs <= slowMs && after.involuntaryContextSwitches > before.involuntaryContextSwitches;
}

function format(formatter: LogFormatter, record: LogRecord): LogChunk {
  if (record.kind === "step") return formatter.step(record);
  if (record.kind === "header") return formatter.header?.(record) ?? "";
  if (record.kind === "late") return formatter.late?.(record) ?? "";
  if (record.kind === "summary") return formatter.summary?.(record) ?? "";
  return formatter.event?.(record) ?? "";
}

function writeChunk(output: Output, chunk: LogChunk, kind: LogRecord["kind"] | "close"): void {
  if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) {
    leaveAlone(chunk);
    throw new TypeError(
      `the formatter returned ${chunk === null ? "null" : typeof chunk} for a ${kind} record; return a string or a Uint8Array`,
    );
  }
  if (chunk.length > 0) output.sink.write(chunk, kind);
}

/** A promise of an async formatter that fails once it is switched off must not end the process. */
function leaveAlone(value: unknown): void {
  if (value instanceof Promise) value.catch(() => undefined);
}

function reportOnStderr({ output, error }: LogFault): void {
  process.stderr.write(`log: ${output} is switched off: ${error.message}\n`);
}
