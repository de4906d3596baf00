/** One run of a section in a step. */
export interface Span {
  /** Its section. */
  readonly name: string;
  /** The lane of the section. */
  readonly lane: string;
  /** Since the timer was made, ms; clipped to the step. */
  readonly startMs: number;
  /** How long it ran, within the step. */
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
  /** Number of the step. */
  readonly step: number;
  /** Its start since the timer was made. */
  readonly startMs: number;
  /** Its wall time. */
  readonly ms: number;
  /** By lane and start, parents first. */
  readonly spans: readonly Span[];
}
