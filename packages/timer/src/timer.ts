/** What a section means to the verdict: declared, not guessed from its name. */
export interface SectionOptions {
  /** Lane the section runs in; the timer's own lane unless given. */
  lane?: string;
  /** `wait` marks time spent waiting. */
  role?: string;
  /** The lane that a `wait` section waits for. */
  waitsFor?: string;
}

/** Handle of a named section: made once at start, used in every step. */
export interface Section {
  readonly name: string;
  start(): void;
  stop(): void;
  /** Runs `fn` inside the section; an async function is awaited. */
  time<T>(fn: () => T): T;
}

/** Times of one section in one step, milliseconds. */
export interface SectionTimes {
  ms: number | null;
  selfMs: number | null;
  count: number;
  /** Why a value is null. */
  reason?: string | undefined;
}

/** Plain copy of a step's report, free to keep. */
export interface ReportSnapshot {
  /** From 1. */
  readonly step: number;
  /** Start of the step since the timer was made, ms. */
  readonly startMs: number;
  readonly ms: number;
  /**
   * The step less the self times of its sections, exactly: those of the own lane, and those of other lanes that ran inside it
   * (the `parent` chain of both ends on the own lane). Sections run between two steps belong to the next one, whose start moves back to theirs.
   */
  readonly residualMs: number;
  /** What the timer itself cost in this step, µs. */
  readonly overheadUs: number;
  /** Calls of `start` and `stop` in this step that had no partner. */
  readonly unbalanced: number;
  /** By name, in order of registration; `parent` is where the section first ran in this step. */
  readonly sections: Readonly<
    Record<string, SectionTimes & { parent: string | null; lane: string; role: string | null; waitsFor: string | null }>
  >;
  /**
   * By name. Busy, waiting and residual add up to the step in every lane; the own lane's waiting includes what other lanes did inside it.
   * `overlap` is the share of the busy time in which the own lane (for the own lane: any other) was busy too; null without a second lane or busy time.
   */
  readonly lanes: Readonly<
    Record<string, { busyMs: number; waitMs: number; residualMs: number; overlap: number | null }>
  >;
}

/** A step's report; a view valid during the emit. */
export interface Report extends ReportSnapshot {
  snapshot(): ReportSnapshot;
  /** A snapshot, for `JSON.stringify`. */
  toJSON(): ReportSnapshot;
  /** The step in one line. */
  toString(): string;
}

export interface Timer {
  /** Off costs about nothing; may change while running. */
  enabled: boolean;
  /** The handle of a section; the same name gives the same handle. */
  section(name: string, options?: SectionOptions): Section;
  /** Runs `fn` as one step and emits `report`. */
  step<T>(fn: () => T): T;
  on(event: "report", listener: (report: Report) => void): this;
  off(event: "report", listener: (report: Report) => void): this;
  once(event: "report", listener: (report: Report) => void): this;
}
