export const MAX_SECTIONS = 256;

/** Slot of the step itself: its total is the step, its self time the residual. It lies at the bottom of the stack. */
export const STEP_SLOT = 0;

/** Fields of a section's totals; a cache line a section. */
export const STRIDE = 8;
export const TOTAL = 0;
export const SELF = 1;
export const COUNT = 2;
/** Where the section first ran: 0 nowhere yet, `ROOT`, or its parent's slot. */
export const PARENT = 3;
export const ROOT = -1;
/** Tokens, FLOPs, bytes. */
export const WORK_FIELDS = 4;
/** 1 when it ran by tokens. */
export const OVERLAPPING = 7;

/** What one step came to, ns. */
export interface StepTotals {
  start: number;
  unbalanced: number;
  dropped: number;
  /** By slot. */
  readonly sections: Float64Array;
}

/** Empty totals; the start is a half, so that it is stored as a double from the start. */
export function createStepTotals(): StepTotals {
  return { start: 0.5, unbalanced: 0, dropped: 0, sections: new Float64Array(MAX_SECTIONS * STRIDE) };
}

/** Makes room for the next step. */
export function clearTotals(totals: StepTotals, sectionCount: number): void {
  totals.unbalanced = totals.dropped = 0;
  totals.sections.fill(0, 0, sectionCount * STRIDE);
}
