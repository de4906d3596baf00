import { CAUSE_COUNT } from "./recording.ts";

export const MAX_SECTIONS = 256;
export const MAX_LANES = 12;

/** The timer's own lane. */
export const OWN = 0;

/** Slot of the step itself: its total is the step, its self time the residual. It lies at the bottom of the own lane's stack. */
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

/** What one step came to. Times in ns; lane 0 is the timer's own. */
export interface StepTotals {
  start: number;
  unbalanced: number;
  dropped: number;
  /** Lanes whose boundaries were lost, a bit a lane. */
  droppedLanes: number;
  readonly sections: Float64Array;
  /** Per section: what its probe's totals rose by while it was open. */
  readonly causes: Float64Array;
  /** Per lane: time waiting; the own lane's includes what other lanes did inside it. */
  readonly waits: Float64Array;
  /** Time by the set of lanes that were busy, a bit a lane; empty with one lane. */
  readonly busySets: Float64Array;
  /** Makes room for the next step. */
  clear(sectionCount: number, laneCount: number): void;
}

/** Empty totals. */
export function createStepTotals(): StepTotals {
  const sections = new Float64Array(MAX_SECTIONS * STRIDE);
  const causes = new Float64Array(MAX_SECTIONS * CAUSE_COUNT);
  const waits = new Float64Array(MAX_LANES);
  const busySets = new Float64Array(1 << MAX_LANES);
  return {
    // A half, so that it is stored as a double from the start.
    start: 0.5,
    unbalanced: 0,
    dropped: 0,
    droppedLanes: 0,
    sections,
    causes,
    waits,
    busySets,
    clear(sectionCount, laneCount) {
      this.unbalanced = this.dropped = this.droppedLanes = 0;
      sections.fill(0, 0, sectionCount * STRIDE);
      causes.fill(0, 0, sectionCount * CAUSE_COUNT);
      waits.fill(0);
      busySets.fill(0, 0, 1 << laneCount);
    },
  };
}
