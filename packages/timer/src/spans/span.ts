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
