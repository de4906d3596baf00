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
  reason?: string;
}

/** Plain copy of a step's report, free to keep. */
export interface ReportSnapshot {
  /** From 1. */
  readonly step: number;
  /** Start of the step since the timer was made, ms. */
  readonly startMs: number;
  readonly ms: number;
  /** The step less the self times of its sections. */
  readonly residualMs: number;
  /** What the timer itself cost in this step, µs. */
  readonly overheadUs: number;
  /** By name, in order of registration; parent as seen in this step. */
  readonly sections: Readonly<Record<string, SectionTimes & { parent: string | null; lane: string; role: string | null; waitsFor: string | null }>>;
  readonly lanes: Readonly<Record<string, { busyMs: number; waitMs: number; overlap: number | null }>>;
}

/** A step's report; a view valid during the emit. */
export interface Report extends ReportSnapshot {
  snapshot(): ReportSnapshot;
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
