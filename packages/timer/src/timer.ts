import type { LateColumns, LateReport, Report } from "./report.ts";
import type { Section, SectionInfo, SectionOptions } from "./section.ts";

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

/** Times the steps of one loop. {@link createTimer} makes it. */
export interface Timer {
  /** Off costs about nothing; may change while running, and takes effect when the step in progress has closed. */
  enabled: boolean;
  /** Every section so far, in order of registration. */
  readonly sections: readonly SectionInfo[];
  /** What the timer costs, measured when it was made. */
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
  /** Subscribes to an event. A listener that throws is reported once. */
  on<E extends keyof TimerEvents>(event: E, listener: (payload: TimerEvents[E]) => void): this;
  /** Unsubscribes. */
  off<E extends keyof TimerEvents>(event: E, listener: (payload: TimerEvents[E]) => void): this;
  /** Subscribes to an event's next emit. */
  once<E extends keyof TimerEvents>(event: E, listener: (payload: TimerEvents[E]) => void): this;
}
