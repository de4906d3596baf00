import type { Causes } from "./causes/causeProbe.ts";
import type { SectionInfo, WorkUnit } from "./section.ts";

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
  /** In sections that are no waiting. */
  readonly busyMs: number;
  /** In sections with the role `wait`; the own lane's includes what other lanes did inside it. */
  readonly waitMs: number;
  /** In no section. */
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
  /** Wall time of the step. */
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
  /** By name. */
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
  /** The step that they are of. */
  readonly step: number;
  /** By section. */
  readonly sections: Readonly<Record<string, LateColumns>>;
}
