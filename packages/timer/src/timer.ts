/// <reference lib="esnext.disposable" />

/** What a section means to the verdict: declared, not guessed from its name. */
export interface SectionOptions {
  /** Lane the section runs in; the timer's own lane unless given. */
  lane?: string;
  /**
   * What it does: `wait` marks time spent waiting; `data`, `packing`, `block-mask`, `optimizer`, `log` and `checkpoint` are causes that a
   * verdict can name. Other words are kept as they are.
   */
  role?: string;
  /** The lane that a `wait` section waits for. */
  waitsFor?: string;
}

/** A section as it was registered. */
export interface SectionInfo {
  readonly name: string;
  readonly lane: string;
  readonly role: string | null;
  readonly waitsFor: string | null;
}

/** What a section's work is counted in: tokens, floating-point operations, bytes. */
export type WorkUnit = "tokens" | "flops" | "bytes";

/** One of several overlapping runs of a section. */
export interface Token extends Disposable {
  end(): void;
}

/** Handle of a named section: made once at start, used in every step. */
export interface Section extends Disposable {
  readonly name: string;
  /** Opens the section; `using _ = section.start()` closes it with the block. */
  start(): this;
  stop(): void;
  /** Closes the phase that the last `lap` opened and opens this one, with one clock read. The last phase ends with `stop`, with the section around it, or with the step. */
  lap(): void;
  /** Opens one of several overlapping runs, for async work. Their section's `ms` is the time in which any was open; it has no self time. */
  begin(): Token;
  /** Runs `fn` inside the section; an async function is awaited. Of overlapping async calls each instant goes to the one that began last. */
  time<T>(fn: () => T): T;
  /** Counts work done by the section in this step, for its rates. */
  add(unit: WorkUnit, amount: number): void;
}

/** What an engine did while a section was open; null where it can't tell. */
export interface Causes {
  /** Kernels dispatched. */
  readonly kernels: number | null;
  /** Bytes newly allocated. */
  readonly newBytes: number | null;
  /** Tensors alive at the end less those at the start. */
  readonly tensors: number | null;
  /** Shapes seen for the first time. */
  readonly newShapes: number | null;
  /** Milliseconds spent waiting for the device. */
  readonly syncMs: number | null;
}

/**
 * Running totals that an engine keeps and a timer reads at every boundary of a section, so its properties must be cheap and must not allocate.
 * A property that is left out is a cause that the engine can't tell. `tensors` is how many are alive.
 */
export interface CauseProbe {
  readonly kernels?: number;
  readonly newBytes?: number;
  readonly tensors?: number;
  readonly newShapes?: number;
  readonly syncMs?: number;
  /** Blocks until the device has computed all that was dispatched; left out where the engine can't block. */
  sync?(): void;
}

/** What is known of a section only after its step has closed; in the step's report null, pending, once it was announced. */
export interface LateColumns {
  /** Time on the device, ms. */
  deviceMs?: number | null | undefined;
  /** Garbage collection that hit the section, ms. */
  gcMs?: number | null | undefined;
  /** Time in which other callbacks kept the event loop from the section, ms. */
  stallMs?: number | null | undefined;
}

/** Times of one section in one step, milliseconds. */
export interface SectionTimes extends LateColumns {
  /** Wall time in which the section was open. */
  ms: number | null;
  /** The part of it in which none of its children was. */
  selfMs: number | null;
  /** Completed calls. */
  count: number;
  /** Why a value is null: `not reached`, `overlapping` (no self time), `dropped` (a worker's records were lost). */
  reason?: string | undefined;
}

/** One section of a step's report. */
export interface SectionReport extends SectionTimes, SectionInfo {
  /** Where the section first ran in this step. */
  readonly parent: string | null;
  /** Work counted by `add`, or null. */
  readonly work: Readonly<Record<WorkUnit, number>> | null;
  /** The same per second of `ms`. */
  readonly rates?: Readonly<Record<WorkUnit, number>> | null;
  /** Null without a probe. */
  readonly causes: Causes | null;
}

/** One lane of a step's report. Busy, waiting and residual add up to the step. */
export interface LaneReport {
  readonly busyMs: number;
  /** In sections with the role `wait`; the own lane's includes what other lanes did inside it. */
  readonly waitMs: number;
  readonly residualMs: number;
  /** Share of the busy time in which the own lane (for the own lane: any other) was busy too; null without a second lane or busy time. */
  readonly overlap: number | null;
  /** Time in which this lane and another were busy, by the other's name, ms. */
  readonly overlapMs: Readonly<Record<string, number>>;
}

/** Plain copy of a step's report, free to keep. */
export interface ReportSnapshot {
  /** From 1. */
  readonly step: number;
  /** Start of the step since the timer was made, ms. Sections run between two steps belong to the next one, whose start moves back to theirs. */
  readonly startMs: number;
  readonly ms: number;
  /** The step less the self times of its sections, exactly: those of the own lane, and those of other lanes that ran inside it. */
  readonly residualMs: number;
  /** What the timer itself cost in this step, µs, with cold caches; in it closing the step, but not its listeners. */
  readonly overheadUs: number;
  /** Calls without a partner in this step. */
  readonly unbalanced: number;
  /** Records of worker lanes that were overwritten before they were read. */
  readonly dropped: number;
  /** Marks set since the last report. */
  readonly tags: readonly string[];
  /** The whole step's; null without a probe. */
  readonly causes: Causes | null;
  /** By name, in order of registration. */
  readonly sections: Readonly<Record<string, SectionReport>>;
  readonly lanes: Readonly<Record<string, LaneReport>>;
}

/** A step's report, computed when it is first read; a view valid during the emit. */
export interface Report extends ReportSnapshot {
  /** The report as an object that is free to keep. */
  snapshot(): ReportSnapshot;
  /** A snapshot, for `JSON.stringify`. */
  toJSON(): ReportSnapshot;
  /** The step in one line. */
  toString(): string;
}

/** Columns of a closed step that became known after its report. */
export interface LateReport {
  readonly step: number;
  readonly sections: Readonly<Record<string, LateColumns>>;
}

/** One run of a section in a step. */
export interface Span {
  readonly name: string;
  readonly lane: string;
  /** Since the timer was made, ms; clipped to the step. */
  readonly startMs: number;
  readonly ms: number;
  /** Whether it ran in the timer's own thread. */
  readonly local: boolean;
  /** 0 on top; null for overlapping runs, which don't nest. */
  readonly depth: number | null;
  /** Kernels dispatched so far at its start and its end; null without a probe. */
  readonly kernels: readonly [number, number] | null;
}

/** Spans of one step: by lane, properly nested, parents first. */
export interface StepSpans {
  readonly step: number;
  readonly startMs: number;
  readonly ms: number;
  readonly spans: readonly Span[];
}

/** What a boundary of a section costs on this machine, ns. */
export interface Calibration {
  /** A start and a stop, in a loop. */
  readonly costNs: number;
  /** The same with caches evicted before it. */
  readonly costColdNs: number;
  /** What an empty section reports. */
  readonly biasNs: number;
  /** The smallest difference that the clock shows. */
  readonly resolutionNs: number;
}

/** What a timer emits, by event. A listener that throws is reported once on the console and never reaches the code that is timed. */
export interface TimerEvents {
  /** A step has closed. */
  report: Report;
  /** More is known of a closed step. */
  late: LateReport;
}

export interface Timer {
  /** Off costs about nothing; may change while running, and takes effect when the step in progress has closed. */
  enabled: boolean;
  readonly sections: readonly SectionInfo[];
  readonly calibration: Calibration;
  /** Time since the timer was made, ms. */
  now(): number;
  /** The handle of a section; the same name gives the same handle. */
  section(name: string, options?: SectionOptions): Section;
  /** Runs `fn` as one step and emits `report`. */
  step<T>(fn: () => T): T;
  /** Tags the step in progress, else the next one: `warmup`, `checkpoint`, `eval`, `resume` … */
  mark(tag: string): void;
  /** Announces a late column: it is null in every report from now on. */
  expectLate(column: keyof LateColumns): void;
  /** Emits `late` with columns of a closed step. */
  late(step: number, sections: Readonly<Record<string, LateColumns>>): void;
  on<E extends keyof TimerEvents>(event: E, listener: (payload: TimerEvents[E]) => void): this;
  off<E extends keyof TimerEvents>(event: E, listener: (payload: TimerEvents[E]) => void): this;
  once<E extends keyof TimerEvents>(event: E, listener: (payload: TimerEvents[E]) => void): this;
}
