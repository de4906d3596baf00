import { formatReport } from "./formatReport.ts";
import { STRIDE, type StepTotals } from "./replay.ts";
import type { Report, ReportSnapshot } from "./timer.ts";

type SectionReport = ReportSnapshot["sections"][string];
type LaneReport = ReportSnapshot["lanes"][string];

/** What the timer knows of a registered section. */
export interface SectionInfo {
  readonly name: string;
  readonly lane: string;
  readonly role: string | null;
  readonly waitsFor: string | null;
}

/** The parts of a timer that its report looks at. */
export interface ReportSource {
  readonly sections: readonly SectionInfo[];
  readonly lanes: readonly string[];
  readonly totals: StepTotals;
  readonly step: number;
  readonly overheadUs: number;
}

/** A report on whatever step `source` closed last: nothing is copied or computed until it is read. */
export interface ReportView extends Report {
  addSection(slot: number): void;
  addLane(lane: number): void;
}

const ms = (ns: number): number => ns / 1e6;

/** Makes the one view of a timer. */
export function createReport(source: ReportSource): ReportView {
  const sections: Record<string, SectionReport> = Object.create(null);
  const lanes: Record<string, LaneReport> = Object.create(null);
  return {
    sections,
    lanes,
    get step() {
      return source.step;
    },
    get startMs() {
      return ms(source.totals.start);
    },
    get ms() {
      return ms(source.totals.ns);
    },
    get residualMs() {
      return ms(source.totals.residual);
    },
    get overheadUs() {
      return source.overheadUs;
    },
    get unbalanced() {
      return source.totals.unbalanced;
    },
    addSection(slot) {
      const info = source.sections[slot]!;
      sections[info.name] = sectionView(source, info, slot * STRIDE);
    },
    addLane(lane) {
      lanes[source.lanes[lane]!] = laneView(source, lane);
    },
    snapshot() {
      return copy(this);
    },
    toJSON() {
      return copy(this);
    },
    toString() {
      return formatReport(this);
    },
  };
}

function sectionView(source: ReportSource, info: SectionInfo, field: number): SectionReport {
  const read = (offset: number): number => source.totals.sections[field + offset]!;
  /** A section that is still open has time but no completed call. */
  const seen = (): boolean => read(2) > 0 || read(0) > 0;
  return {
    get ms() {
      return seen() ? ms(read(0)) : null;
    },
    get selfMs() {
      return seen() ? ms(read(1)) : null;
    },
    get count() {
      return read(2);
    },
    get parent() {
      return source.sections[read(3) - 2]?.name ?? null;
    },
    get reason() {
      return seen() ? undefined : "not reached";
    },
    lane: info.lane,
    role: info.role,
    waitsFor: info.waitsFor,
  };
}

function laneView(source: ReportSource, lane: number): LaneReport {
  const own = 1;
  const bit = 1 << lane;
  const timeIn = (test: (set: number) => boolean): number =>
    source.totals.busySets.reduce((sum, ns, set) => (test(set) ? sum + ns : sum), 0);
  return {
    get busyMs() {
      return ms(timeIn((set) => (set & bit) !== 0));
    },
    get waitMs() {
      return ms(source.totals.waits[lane]!);
    },
    get residualMs() {
      return ms(source.totals.ns - source.totals.waits[lane]! - timeIn((set) => (set & bit) !== 0));
    },
    get overlap() {
      const busy = timeIn((set) => (set & bit) !== 0);
      if (busy === 0 || source.lanes.length === 1) return null;
      return (
        timeIn(lane === 0 ? (set) => (set & bit) !== 0 && set !== bit : (set) => (set & (bit | own)) === (bit | own)) /
        busy
      );
    },
  };
}

function copy(report: Report): ReportSnapshot {
  const { step, startMs, residualMs, overheadUs, unbalanced } = report;
  const sections: Record<string, SectionReport> = {};
  for (const [name, section] of Object.entries(report.sections)) {
    const { count, parent, lane, role, waitsFor, reason } = section;
    sections[name] = {
      ms: section.ms,
      selfMs: section.selfMs,
      count,
      parent,
      lane,
      role,
      waitsFor,
      ...(reason ? { reason } : {}),
    };
  }
  const lanes: Record<string, LaneReport> = {};
  for (const [name, { busyMs, waitMs, residualMs: idleMs, overlap }] of Object.entries(report.lanes))
    lanes[name] = { busyMs, waitMs, residualMs: idleMs, overlap };
  return { step, startMs, ms: report.ms, residualMs, overheadUs, unbalanced, sections, lanes };
}
